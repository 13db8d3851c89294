// Package recollect is the root of a library that gives agents memory and state. It holds no code; its folders do:
//
//   - scope says whose memory it is and derives the keys;
//   - memory runs recall, capture, tools and compaction over providers;
//   - filememory is the built-in provider, one bounded document per key;
//   - state holds typed session state in checkpoints;
//   - provider holds engines and services.
//
// README.md is the way in.
package recollect
