//go:build race

package state_test

// raceEnabled tells that allocations cannot be counted.
const raceEnabled = true
