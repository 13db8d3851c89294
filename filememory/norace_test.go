//go:build !race

package filememory_test

const raceEnabled = false
