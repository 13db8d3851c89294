package analysis

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DateTerms returns the terms by which a note is found that was said on the day of t: year, month, both, and the day.
func DateTerms(t time.Time) []Term { return date{t.Year(), int(t.Month()), t.Day()}.terms() }

// date is a date of which parts may be 0, for unknown.
type date struct{ year, month, day int }

// terms cannot be those of words: no word has a space in it.
func (d date) terms() []Term {
	var out []Term
	add := func(format string, parts ...any) { out = append(out, termOf(fmt.Appendf(nil, format, parts...))) }
	if d.year > 0 {
		add("year %d", d.year)
	}
	if d.month > 0 {
		add("month %d", d.month)
	}
	if d.year > 0 && d.month > 0 {
		add("month %d-%d", d.year, d.month)
	}
	if d.month > 0 && d.day > 0 {
		add("day %d-%d", d.month, d.day)
	}
	if d.year > 0 && d.month > 0 && d.day > 0 {
		add("day %d-%d-%d", d.year, d.month, d.day)
	}
	return out
}

const (
	monthName = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`
	dayNumber = `(\d{1,2})(?:st|nd|rd|th)?`
	yearName  = `((?:19|20)\d{2})`
)

// datePatterns find dates in a query in lower case. The names of the groups' meanings are in order: y, m, d.
var datePatterns = []struct {
	pattern *regexp.Regexp
	groups  string
}{
	{regexp.MustCompile(`\b` + monthName + `\s+` + dayNumber + `\b(?:,?\s+` + yearName + `\b)?`), "mdy"},
	{regexp.MustCompile(`\b` + dayNumber + `\s+(?:of\s+)?` + monthName + `,?(?:\s+` + yearName + `\b)?`), "dmy"},
	{regexp.MustCompile(`\b` + monthName + `,?\s+(?:of\s+)?` + yearName + `\b`), "my"},
	{regexp.MustCompile(`\b(?:in|of|since|until|till|by|during|last|this|next|early|late|mid)\s+` + monthName), "m"},
	{regexp.MustCompile(`\b` + yearName + `[-/.](\d{1,2})(?:[-/.](\d{1,2}))?\b`), "ymd"},
	{regexp.MustCompile(yearName + `年(?:(\d{1,2})月)?(?:(\d{1,2})日)?`), "ymd"},
	{regexp.MustCompile(`(\d{1,2})月(?:(\d{1,2})日)?`), "md"},
	{regexp.MustCompile(`\b` + yearName + `\b`), "y"},
}

// dateTerms returns the terms of the dates that a query names in English, in digits, or in Chinese and Japanese.
func dateTerms(text string) []Term {
	text = strings.ToLower(text)
	var out []Term
	for _, p := range datePatterns {
		for _, match := range p.pattern.FindAllStringSubmatch(text, -1) {
			out = append(out, dateOf(p.groups, match[1:]).terms()...)
		}
	}
	return out
}

func dateOf(groups string, parts []string) (d date) {
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		switch {
		case part == "":
		case groups[i] == 'y' && err == nil:
			d.year = n
		case groups[i] == 'd' && n >= 1 && n <= 31:
			d.day = n
		case groups[i] == 'm' && err == nil && n >= 1 && n <= 12:
			d.month = n
		case groups[i] == 'm' && err != nil:
			d.month = monthOf(part)
		}
	}
	return d
}

func monthOf(name string) int {
	for m := time.January; m <= time.December; m++ {
		if strings.HasPrefix(name, strings.ToLower(m.String()[:3])) {
			return int(m)
		}
	}
	return 0
}
