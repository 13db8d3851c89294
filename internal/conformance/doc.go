// Package conformance proves that this module keeps memory as eve does. Its tests run every recorded case of eve 0.80.1, one subtest
// each, through the exported API of scope, memory and filememory:
//
//	go test ./internal/conformance
//	VECTORS_DIR=/path/to/other/vectors go test ./internal/conformance
//
// testdata holds the recorded cases, unchanged. With VECTORS_DIR the files of that folder take their place: the same names
// and schema, other cases. A relative VECTORS_DIR begins at the module's root. A file is a JSON array of
// {name, input, want} or {name, input, wantError: {code}}. Names repeat, so that a subtest's name begins with the position
// of its case.
//
// A case whose input has no form in Go, such as a member that a struct does not have, is skipped with its reason. The number of skipped cases
// is asserted for testdata and reported for other folders.
package conformance
