//go:build race

package filememory_test

const raceEnabled = true
