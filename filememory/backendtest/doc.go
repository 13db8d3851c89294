// Package backendtest is the conformance kit of filememory.Backend. A backend that passes Run keeps what people told an
// agent; one that does not loses it or shows it to others sooner or later.
//
//	func TestBackend(t *testing.T) {
//		backendtest.Run(t, func(t *testing.T) filememory.Backend {
//			return mystore.New(emptyDatabase(t))
//		}, nil)
//	}
//
// Every rule is a subtest of its own name, stands in the message of its failures, and opens a backend of its own. The
// whole takes seconds on a local backend and stays under a minute where a call takes 20 milliseconds. What a backend
// cannot do is declared in Options, as data, and shows up as a refusal that is checked or as a skipped subtest with its
// reason.
//
// The rules are those that filememory.Backend and filememory.Lister state. statetest has the same for state.Store.
package backendtest
