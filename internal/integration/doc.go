// Package integration runs the conformance kits, and the harder tests that no in-process store can answer, against real servers.
package integration
