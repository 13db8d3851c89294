package storetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

var versionRules = []Rule{
	{
		Name: "version-changes",
		Text: "Every content of a key has a version of its own, however quickly one follows another.",
		check: func(p *probe) {
			const writes = 50
			seen := map[string]string{}
			version := ""
			for i := range writes {
				content := strconv.Itoa(i)
				version = p.write(key(1), content, version)
				require.NotContains(p, seen, version, "version of content %s was that of content %s", content, seen[version])
				seen[version] = content
			}
		},
	},
	{
		Name: "version-not-reused-after-delete",
		Text: "A document that is deleted and created again never has the version of another content of the key.",
		check: func(p *probe) {
			seen := map[string]string{}
			for i := range 5 {
				first, second := fmt.Sprintf("first %d", i), fmt.Sprintf("second %d", i)
				version := p.create(key(1), first)
				require.NotContains(p, seen, version, "version of %q was that of %q", first, seen[version])
				seen[version] = first
				version = p.write(key(1), second, version)
				require.NotContains(p, seen, version, "version of %q was that of %q", second, seen[version])
				seen[version] = second
				require.NoError(p, p.store.Delete(p.ctx(), key(1), version))
			}
		},
	},
	{
		Name: "version-is-no-time",
		Text: "A version is not a time: two writers, or two machines, may write at the same time, and clocks go back.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			require.False(p, looksLikeTime(version), "version %q is about now", version)
			version = p.write(key(1), "two", version)
			require.False(p, looksLikeTime(version), "version %q is about now", version)
		},
	},
	{
		Name: "version-stays",
		Text: "Reading does not change a version.",
		check: func(p *probe) {
			version := p.create(key(1), "one")
			for range 3 {
				p.requireStored(key(1), "one", version)
			}
			p.write(key(1), "two", version)
		},
	},
}

// looksLikeTime reports whether version is a way to write a time within a day of now.
func looksLikeTime(version string) bool {
	version, _, _ = strings.Cut(version, " m=") // of a time.Time with a monotonic clock reading
	near := func(t time.Time) bool { return time.Since(t).Abs() < 24*time.Hour }
	for _, layout := range []string{time.RFC3339Nano, time.RFC1123, time.RFC1123Z, "2006-01-02 15:04:05.999999999 -0700 MST", time.DateTime} {
		if t, err := time.Parse(layout, version); err == nil && near(t) {
			return true
		}
	}
	for _, base := range []int{10, 16, 36} {
		n, err := strconv.ParseInt(version, base, 64)
		if err == nil && (near(time.Unix(n, 0)) || near(time.UnixMilli(n)) || near(time.UnixMicro(n)) || near(time.Unix(0, n))) {
			return true
		}
	}
	seconds, err := strconv.ParseFloat(version, 64)
	return err == nil && near(time.Unix(int64(seconds), 0))
}
