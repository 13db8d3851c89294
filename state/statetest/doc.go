// Package statetest is the conformance kit of state.Store. A store that passes Run keeps what sessions have committed;
// one that does not loses a step, runs it twice, or gives one session the state of another, sooner or later.
//
//	func TestStore(t *testing.T) {
//		statetest.Run(t, func(t *testing.T) state.Store {
//			return mystore.New(emptyDatabase(t))
//		}, nil)
//	}
//
// Every rule is a subtest of its own name, stands in the message of its failures, and opens a store of its own. The rules
// of the contract, which state.Store and state.Lister state, are those that backendtest has for documents, with contents
// of up to 8 MiB. The rules whose names begin with "session-" drive whole sessions over the store: crash and resume, two
// runners, a lost reply, children, reset and sweep. What a store cannot do is declared in Options, as data. The whole
// takes seconds on a local store.
package statetest
