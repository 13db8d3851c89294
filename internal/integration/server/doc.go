// Package server starts real servers on loopback for the tests, each with a data folder of its own, and stops them when the test ends.
//
// A server that is not installed fails the test when CI=true and skips it, by name and with the way to install it, elsewhere.
package server
