package main

func Example() {
	main()
	// Output:
	// Export:
	// {"format":"recollect-export","version":1,"node":"__root__"}
	// {"slot":"profile","namespace":"acme-support-v1","scope":["acme","u_42"],"kind":"document","id":"MEMORY.md","content":"<!-- eve-memory-file-v1 lastAllocatedIndex=0 -->\n0: Prefers Chinese.\n"}
	// {"end":true,"records":1,"missing":[]}
	// Erasure:
	// profile: done, 1 record erased, found empty by export
	// Session: 1 record forgotten
}
