// Package ecma holds the text rules of ECMAScript that stored bytes depend on: which characters count as white space,
// how JSON.stringify escapes a string, how long a string is in UTF-16 code units, and which text has no Unicode meaning at
// all. Go's own rules differ in each of them, and a difference would give one memory two keys.
//
// The rules are those of ECMA-262: WhiteSpace and LineTerminator (sections 12.2 and 12.3), QuoteJSONString (25.5.4.3).
package ecma
