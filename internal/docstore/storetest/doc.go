// Package storetest holds the rules that every docstore.Store obeys, each with a name, a text and a check. Users run them
// through backendtest and statetest, which differ in their types and in the sizes they ask for.
//
// Rules of this folder: a rule is one promise of the contract and stands alone: it opens a store of its own and never
// depends on another rule. What a store may differ in is data in Options, not a condition in a check. Every rule is here
// because a store that breaks it loses or mixes up somebody's memory, and broken_test.go has such a store.
package storetest
