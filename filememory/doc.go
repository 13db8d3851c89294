// Package filememory is the built-in memory provider: one bounded Markdown document for each key, recalled whole before
// every turn and maintained by the model with two tools, save_memory and remove_memory. It captures nothing by itself.
//
// # Which package is yours
//
// To give an agent a memory, make a Provider with New over a Backend: Dir for a folder, InMemory for tests, or one of the
// packages in provider for a database. To let people see and change what is remembered about them, use Provider.Slot. To
// write a backend of your own, implement Backend and run package backendtest on it.
//
// # The document
//
//	<!-- eve-memory-file-v1 lastAllocatedIndex=N -->
//	0: text
//	3: text
//
// Every line ends in a line feed. N is -1 or the largest index ever used; an index is never used again and never changes.
// A text has one line and single spaces. The same bytes are read and written by the TypeScript framework eve. A document
// that is anything else was damaged or written by something else: it is an error that names the line, and it is never
// overwritten.
//
// # Limits
//
// A text has 1 to 2048 bytes, a document at most 65536 bytes, and the message that the model sees at most
// Options.MaxCharacters UTF-16 units, 4000 by default. Over a limit is an error that tells the model what to do. Nothing
// is truncated and nothing is evicted.
//
// # Rules of this folder
//
// Every change reads the document, decides, and writes on condition; whoever loses a race decides again on what the
// winner wrote. An error never contains a text.
package filememory
