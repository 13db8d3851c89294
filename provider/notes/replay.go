package notes

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recollect-go/recollect/memory"
)

// recording is the JSON of what a recall returned.
type recording struct {
	V     int            `json:"v"`
	Items []recordedItem `json:"items"`
}

type recordedItem struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

const recordingVersion = 1

// operationDigest is what an operation's id is stored as: ids have no limit, indexes do.
func operationDigest(id string) string { return digest("operation-v1", id) }

// recalled returns what the operation recalled before, unless that has expired.
func (s *Store) recalled(ctx context.Context, key, operation string) ([]memory.Item, bool, error) {
	if err := s.admit(ctx, key); err != nil {
		return nil, false, err
	}
	var found []string
	err := s.retry(ctx, func() (err error) {
		found, err = collect(ctx, s.db, s.sql.recalled, []any{key, operationDigest(operation), s.opts.Now().UnixMilli()}, func(scan scanner) (text string, err error) {
			return text, scan(&text)
		})
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	var r recording
	if err := json.Unmarshal([]byte(found[0]), &r); err != nil || r.V != recordingVersion {
		return nil, false, fmt.Errorf("%w: a recorded recall", ErrMalformed)
	}
	var items []memory.Item
	for _, item := range r.Items {
		items = append(items, memory.Item(item))
	}
	return items, true, nil
}

// record keeps what the operation recalled, and the newest keep recordings of the scope. It reports false, and keeps
// nothing, when one of the notes is not there any more or the operation has a recording already: a deleted note must not
// live on in a recording. A recording that shows a note that has expired counts as none.
func (s *Store) record(ctx context.Context, key, operation string, what shown, keep int) (recorded bool, err error) {
	r := recording{V: recordingVersion, Items: []recordedItem{}}
	for _, item := range what.items {
		r.Items = append(r.Items, recordedItem(item))
	}
	text, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	err = s.change(ctx, key, func(c *change) (err error) {
		recorded, err = c.record(operationDigest(operation), what.ids, string(text), int64(keep))
		return err
	})
	return recorded, err
}

func (c *change) record(operation string, ids []string, text string, keep int64) (bool, error) {
	there, err := c.numbers(c.sql.hasRecall, operation, c.now)
	if err != nil || len(there) > 0 {
		return false, err
	}
	numbers := c.numbersOf(ids)
	if len(numbers) != len(ids) {
		return false, nil
	}
	rows, err := c.live(numbers)
	if err != nil || len(rows) != len(ids) {
		return false, err
	}
	last, err := c.numbers(c.sql.lastRecall)
	if err != nil {
		return false, err
	}
	if _, err := c.execute(c.sql.recordRecall, operation, last[0]+1, mentions(numbers), text); err != nil {
		return false, err
	}
	_, err = c.execute(c.sql.pruneRecalls, last[0]+1-keep)
	return true, err
}

// mentions returns the numbers with a comma before and after each, so that one of them is found by ",<number>,".
func mentions(numbers []int64) string {
	var out strings.Builder
	out.WriteByte(',')
	for _, n := range numbers {
		fmt.Fprintf(&out, "%d,", n)
	}
	return out.String()
}
