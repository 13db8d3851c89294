// Package memorytest checks a provider against the rules of memory.Handlers.
//
//	func TestProvider(t *testing.T) {
//		memorytest.Run(t, func(t *testing.T) memory.Provider { return newProvider(t) }, &memorytest.Options{
//			SaveTool: "save", SaveArgument: "text",
//		})
//	}
//
// Every rule is a subtest of its own, so one rule can be run, or seen to fail, alone. What a provider does not do is
// declared in Options and its rules are skipped with that reason. A provider that passes keeps every key to itself, can be
// asked twice without harm, honours its context and returns what it was given.
//
// Every rule works on keys that no other run uses, so a provider over a shared service can be tested without clearing it.
package memorytest
