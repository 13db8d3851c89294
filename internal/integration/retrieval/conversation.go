package retrieval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Conversation is one sample of a set.
type Conversation struct {
	ID        string
	Turns     []Turn
	Questions []Question
}

// Turn is one thing that was said.
type Turn struct {
	ID      string // D<session>:<turn>
	Session string
	Said    time.Time
	Speaker string
	Text    string
	Caption string // of an image that came with it
}

// Question is asked about a conversation.
type Question struct {
	Text     string
	Category int
	Evidence []string // ids of turns
}

// Categories are the names of the categories in LoCoMo.
var Categories = map[int]string{1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}

// Skipped counts what a set has that cannot be used. Nothing of it ends a run, and all of it is printed.
type Skipped struct {
	Turns     int // without an id, or no turns at all; a session that is no list counts as one
	Dates     int // of sessions, in another form: the turns are there, without a date
	Questions int // of categories 1 to 4 without text or usable evidence, and what is no question
	Evidence  int // entries that name no turn of the conversation
}

// String lists the counts.
func (s *Skipped) String() string {
	return fmt.Sprintf("skipped: %d turns, %d dates, %d questions, %d entries of evidence", s.Turns, s.Dates, s.Questions, s.Evidence)
}

// Load reads a set in the format of LoCoMo.
func Load(path string) ([]Conversation, *Skipped, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var samples []sample
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	skipped := new(Skipped)
	all := make([]Conversation, len(samples))
	for i := range samples {
		all[i] = samples[i].conversation(skipped)
	}
	return all, skipped, nil
}

type sample struct {
	ID           any                        `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []json.RawMessage          `json:"qa"`
}

func (s *sample) conversation(skipped *Skipped) Conversation {
	c := Conversation{ID: fmt.Sprint(s.ID)}
	for _, name := range s.sessions() {
		c.add(name, s.date(name, skipped), s.Conversation[name], skipped)
	}
	there := make(map[string]bool)
	for _, t := range c.Turns {
		there[t.ID] = true
	}
	for _, raw := range s.QA {
		c.ask(raw, there, skipped)
	}
	return c
}

var sessionName = regexp.MustCompile(`^session_([0-9]{1,6})$`)

// sessions returns the names of the sessions that have turns, in the order of their numbers. Some numbers have only a date.
func (s *sample) sessions() (names []string) {
	for name := range s.Conversation {
		if sessionName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return names
}

func (c *Conversation) add(session string, said time.Time, raw json.RawMessage, skipped *Skipped) {
	var turns []json.RawMessage
	if json.Unmarshal(raw, &turns) != nil {
		skipped.Turns++
	}
	for _, raw := range turns {
		var t struct {
			Speaker string `json:"speaker"`
			ID      string `json:"dia_id"`
			Text    string `json:"text"`
			Caption string `json:"blip_caption"`
		}
		if json.Unmarshal(raw, &t) != nil || t.ID == "" {
			skipped.Turns++
			continue
		}
		c.Turns = append(c.Turns, Turn{t.ID, session, said, t.Speaker, t.Text, t.Caption})
	}
}

// date reads, for example, "1:56 pm on 8 May, 2023".
func (s *sample) date(session string, skipped *Skipped) time.Time {
	raw, ok := s.Conversation[session+"_date_time"]
	if !ok {
		return time.Time{}
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if said, err := time.Parse("3:04 pm on 2 January, 2006", text); err == nil {
			return said
		}
	}
	skipped.Dates++
	return time.Time{}
}

func (c *Conversation) ask(raw json.RawMessage, there map[string]bool, skipped *Skipped) {
	var q struct {
		Question string          `json:"question"`
		Evidence json.RawMessage `json:"evidence"`
		Category int             `json:"category"`
	}
	if json.Unmarshal(raw, &q) != nil {
		skipped.Questions++
		return
	}
	if Categories[q.Category] == "" {
		return
	}
	evidence, unknown := evidenceIn(there, listOf(q.Evidence))
	skipped.Evidence += unknown
	if len(evidence) == 0 || q.Question == "" {
		skipped.Questions++
		return
	}
	c.Questions = append(c.Questions, Question{q.Question, q.Category, evidence})
}

// listOf returns the entries of a list, or of what stands in the place of one.
func listOf(raw json.RawMessage) (texts []string) {
	var list []any
	if len(raw) == 0 {
		return nil
	}
	if json.Unmarshal(raw, &list) != nil {
		return []string{string(raw)}
	}
	for _, entry := range list {
		texts = append(texts, fmt.Sprint(entry))
	}
	return texts
}

// turnID finds ids in evidence such as "D8:6; D9:17", "D:11:26" and "D30:05".
var turnID = regexp.MustCompile(`D:?(\d+):(\d+)`)

// evidenceIn returns the turns that are named, each once, and how many entries name something else.
func evidenceIn(there map[string]bool, listed []string) (evidence []string, unknown int) {
	seen := make(map[string]bool)
	for _, text := range listed {
		named := false
		for _, m := range turnID.FindAllStringSubmatch(text, -1) {
			session, _ := strconv.Atoi(m[1])
			turn, _ := strconv.Atoi(m[2])
			id := fmt.Sprintf("D%d:%d", session, turn)
			named = named || there[id]
			if there[id] && !seen[id] {
				seen[id] = true
				evidence = append(evidence, id)
			}
		}
		if !named {
			unknown++
		}
	}
	return evidence, unknown
}
