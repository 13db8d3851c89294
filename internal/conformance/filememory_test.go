package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/scope"
)

// key is where the cases keep their document; which one does not matter.
func key(t *testing.T) string {
	t.Helper()
	keys, err := scope.Derive("conformance", scope.String("document"))
	require.NoError(t, err)
	return keys.Key
}

func TestFileMemoryOptions(t *testing.T) {
	bundle{file: "filememory_options.json", skips: 1, run: fileMemoryOptions}.test(t)
}

func fileMemoryOptions(_ *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		MaxCharacters *int `json:"maxCharacters"`
	}](input)
	if err != nil {
		return nil, err
	}
	opts, err := options(in.MaxCharacters)
	if err != nil {
		return nil, err
	}
	_, err = filememory.New(filememory.InMemory(), opts)
	return struct{}{}, err
}

func options(maxCharacters *int) (*filememory.Options, error) {
	if maxCharacters == nil {
		return nil, nil
	}
	if *maxCharacters == 0 {
		return nil, inexpressible("maxCharacters of 0 means the default")
	}
	return &filememory.Options{MaxCharacters: *maxCharacters}, nil
}

func TestFileMemory(t *testing.T) {
	bundle{file: "filememory.json", run: fileMemory}.test(t)
}

// edit is one use of a file memory.
type edit struct {
	Op    string `json:"op"`
	Text  string `json:"text"`
	Index int64  `json:"index"`
}

func fileMemory(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		Slot          string  `json:"slot"`
		Initial       *string `json:"initial"`
		MaxCharacters *int    `json:"maxCharacters"`
		Steps         []edit  `json:"steps"`
	}](input)
	if err != nil {
		return nil, err
	}
	opts, err := options(in.MaxCharacters)
	if err != nil {
		return nil, err
	}
	document := &document{Backend: filememory.InMemory(), key: key(t)}
	document.put(t, in.Initial)
	provider, err := filememory.New(document, opts)
	if err != nil {
		return nil, err
	}
	slot := provider.Slot(in.Slot)

	steps := make([]map[string]any, 0, len(in.Steps))
	for _, step := range in.Steps {
		got, err := document.apply(t.Context(), slot, &step)
		if isInexpressible(err) {
			return nil, err
		}
		if err != nil {
			got = map[string]any{"error": failed(err)}
		}
		got["document"] = document.summary(t)
		steps = append(steps, got)
	}
	return map[string]any{"steps": steps}, nil
}

// document is the backend of one document. It counts its uses and raises conflicts on request.
type document struct {
	filememory.Backend
	key           string
	reads, writes int
	conflicts     int     // still to be raised
	revealed      *string // what the first conflict leaves in the store; nil leaves what is there
}

func (d *document) Read(ctx context.Context, key string) ([]byte, string, error) {
	d.reads++
	return d.Backend.Read(ctx, key)
}

func (d *document) Write(ctx context.Context, key string, content []byte, expected string) (string, error) {
	d.writes++
	if d.conflicts == 0 {
		return d.Backend.Write(ctx, key, content, expected)
	}
	d.conflicts--
	if d.revealed != nil {
		_, version, err := d.Backend.Read(ctx, key)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if _, err := d.Backend.Write(ctx, key, []byte(*d.revealed), version); err != nil {
			return "", err
		}
		d.revealed = nil
	}
	return "", &filememory.ConflictError{Key: key, Expected: expected}
}

// put stores what a case begins with.
func (d *document) put(t *testing.T, initial *string) {
	t.Helper()
	if initial == nil {
		return
	}
	_, err := d.Backend.Write(t.Context(), d.key, []byte(*initial), "")
	require.NoError(t, err)
}

// content returns the document, or nil when there is none.
func (d *document) content(t *testing.T) *string {
	t.Helper()
	content, _, err := d.Backend.Read(t.Context(), d.key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	text := string(content)
	return &text
}

// apply runs one step on the document and returns what only this step gives.
func (d *document) apply(ctx context.Context, slot *filememory.Slot, step *edit) (map[string]any, error) {
	got := map[string]any{}
	switch step.Op {
	case "save":
		_, err := slot.Save(ctx, d.key, step.Text)
		return got, err
	case "remove":
		_, err := slot.Remove(ctx, d.key, step.Index)
		return got, err
	case "recall":
		items, err := slot.Recall(ctx, d.key)
		got["recall"] = nil
		for _, item := range items {
			got["recall"] = recallSummary(item.ID, item.Content)
		}
		return got, err
	}
	return nil, inexpressible(fmt.Sprintf("unknown step %q", step.Op))
}

// longest is the size in bytes above which the vectors give a digest instead of a text.
const longest = 4096

func (d *document) summary(t *testing.T) any {
	content := d.content(t)
	if content == nil || len(*content) <= longest {
		return content
	}
	return map[string]any{"sha256": digest(*content), "bytes": len(*content)}
}

func recallSummary(id, content string) any {
	if len(content) <= longest {
		return map[string]any{"id": id, "content": content}
	}
	return map[string]any{"id": id, "sha256": digest(content), "utf16Length": ecma.UTF16Len(content)}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestFileConflicts(t *testing.T) {
	bundle{file: "file_conflicts.json", partial: true, run: fileConflictsInABubble}.test(t)
}

// fileConflictsInABubble does not wait for the pauses between attempts.
func fileConflictsInABubble(t *testing.T, input json.RawMessage) (got any, err error) {
	synctest.Test(t, func(t *testing.T) { got, err = fileConflicts(t, input) })
	return got, err
}

func fileConflicts(t *testing.T, input json.RawMessage) (any, error) {
	in, err := decode[struct {
		edit
		Initial       *string `json:"initial"`
		Conflicts     int     `json:"conflicts"`
		AfterConflict *string `json:"afterConflict"`
	}](input)
	if err != nil {
		return nil, err
	}
	document := &document{Backend: filememory.InMemory(), key: key(t), conflicts: in.Conflicts, revealed: in.AfterConflict}
	document.put(t, in.Initial)
	provider, err := filememory.New(document, nil)
	require.NoError(t, err)

	_, err = document.apply(t.Context(), provider.Slot("profile"), &in.edit)
	if isInexpressible(err) {
		return nil, err
	}
	return map[string]any{"reads": document.reads, "writes": document.writes, "error": failed(err), "document": document.content(t)}, nil
}
