package integration_test

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// rounds is how many calls each caller makes in a row.
const rounds = 4

// beside measures subject beside its floor, each called by a number of concurrent callers, who are given their index.
// They run in turn, so that both meet the same load of the machine. What is reported is the tenth percentile of the time
// of a call, which other processes disturb least, and its ratio; the time of an operation that testing reports is that of
// all calls together.
func beside(b *testing.B, callers int, subject, floor func(caller int)) {
	b.Helper()
	var subjects, floors []time.Duration
	for b.Loop() {
		floors = append(floors, timed(callers, floor))
		subjects = append(subjects, timed(callers, subject))
	}
	s, f := tenth(subjects), tenth(floors)
	b.ReportMetric(float64(f.Nanoseconds()), "floor-ns")
	b.ReportMetric(float64(s.Nanoseconds()), "subject-ns")
	b.ReportMetric(float64(s)/float64(f), "x-floor")
}

// timed returns the time that a call took.
func timed(callers int, do func(caller int)) time.Duration {
	begun := time.Now()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for range rounds {
				do(i)
			}
		})
	}
	group.Wait()
	return time.Since(begun) / time.Duration(callers*rounds)
}

func tenth(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/10]
}
