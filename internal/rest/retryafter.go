package rest

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns how long a reply asks to wait: the header retry-after-ms, or Retry-After in seconds or as a date. 0 means
// that it does not say, or nothing that can be understood.
func RetryAfter(header http.Header, now time.Time) time.Duration {
	if d, ok := amount(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	value := header.Get("Retry-After")
	if d, ok := amount(value, time.Second); ok {
		return d
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}

// maxAsked bounds what a service can ask for, so that no number overflows.
const maxAsked = 30 * 24 * time.Hour

func amount(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0) {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(maxAsked))), true
}
