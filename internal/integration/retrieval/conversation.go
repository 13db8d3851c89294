package retrieval

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
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

// Load reads a set in the format of LoCoMo.
func Load(path string) ([]Conversation, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var samples []sample
	if err := json.Unmarshal(data, &samples); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	all := make([]Conversation, len(samples))
	for i, s := range samples {
		if all[i], err = s.conversation(); err != nil {
			return nil, fmt.Errorf("%s: sample %q: %w", path, s.ID, err)
		}
	}
	return all, nil
}

type sample struct {
	ID           string                     `json:"sample_id"`
	Conversation map[string]json.RawMessage `json:"conversation"`
	QA           []struct {
		Question string   `json:"question"`
		Evidence []string `json:"evidence"`
		Category int      `json:"category"`
	} `json:"qa"`
}

func (s *sample) conversation() (Conversation, error) {
	c := Conversation{ID: s.ID}
	for n := 1; ; n++ {
		name := fmt.Sprintf("session_%d", n)
		said, err := s.date(name)
		if err != nil {
			return c, err
		}
		raw, ok := s.Conversation[name]
		if !ok {
			if said.IsZero() {
				break
			}
			continue // a session that has a date and no turns
		}
		if err := c.add(name, said, raw); err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
	}
	there := make(map[string]bool)
	for _, t := range c.Turns {
		there[t.ID] = true
	}
	for _, q := range s.QA {
		if evidence := evidenceIn(there, q.Evidence); len(evidence) > 0 && Categories[q.Category] != "" {
			c.Questions = append(c.Questions, Question{q.Question, q.Category, evidence})
		}
	}
	return c, nil
}

func (c *Conversation) add(session string, said time.Time, raw json.RawMessage) error {
	var turns []struct {
		Speaker string `json:"speaker"`
		ID      string `json:"dia_id"`
		Text    string `json:"text"`
		Caption string `json:"blip_caption"`
	}
	if err := json.Unmarshal(raw, &turns); err != nil {
		return err
	}
	for _, t := range turns {
		c.Turns = append(c.Turns, Turn{t.ID, session, said, t.Speaker, t.Text, t.Caption})
	}
	return nil
}

// date reads, for example, "1:56 pm on 8 May, 2023".
func (s *sample) date(session string) (time.Time, error) {
	raw, ok := s.Conversation[session+"_date_time"]
	if !ok {
		return time.Time{}, nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, err
	}
	return time.Parse("3:04 pm on 2 January, 2006", text)
}

// turnID finds ids in evidence such as "D8:6; D9:17", "D:11:26" and "D30:05".
var turnID = regexp.MustCompile(`D:?(\d+):(\d+)`)

func evidenceIn(there map[string]bool, listed []string) (evidence []string) {
	seen := make(map[string]bool)
	for _, text := range listed {
		for _, m := range turnID.FindAllStringSubmatch(text, -1) {
			session, _ := strconv.Atoi(m[1])
			turn, _ := strconv.Atoi(m[2])
			id := fmt.Sprintf("D%d:%d", session, turn)
			if there[id] && !seen[id] {
				seen[id] = true
				evidence = append(evidence, id)
			}
		}
	}
	return evidence
}
