package notes

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// Defaults of Options.
const (
	DefaultTables       = "recollect_notes"
	DefaultMaxNoteBytes = 64 << 10
)

// Options configures New. nil means all defaults.
type Options struct {
	// Tables is what the names of all tables begin with: a letter or underscore and letters, digits and underscores, 40
	// characters at most, in lower case. Default: DefaultTables.
	Tables string

	// MaxNoteBytes is the largest text of a note. Default: DefaultMaxNoteBytes. A larger one is refused, never cut.
	MaxNoteBytes int

	// FactLife and UtteranceLife are how long a note is kept after it was stored, or a fact after it was last replaced. 0:
	// for ever. From then on it is not found, and it is deleted, with the recorded recalls that show it, with the next
	// change in its scope or by Expire.
	FactLife      time.Duration
	UtteranceLife time.Duration

	// OperationLife is how long it is remembered that an operation was captured. 0: for ever. Expire deletes what is older; a
	// capture that is repeated after that is captured again, and what was forgotten of it since comes back. So it has to be
	// longer than a capture may wait to be repeated, in the outbox of a program that is not running, too.
	OperationLife time.Duration

	// MaxNotes is how many notes a scope may have. 0: any number. WhenFull says what happens to one more.
	MaxNotes int
	WhenFull Policy

	// Embedder makes recall and search look for the meaning, too. nil: words only.
	Embedder *Embedder

	// Vectors looks up vectors. nil: every vector of the scope is read and compared, which is sensible for up to some thousand
	// notes in a scope; docs/providers/notes.md has the figures.
	Vectors VectorIndex

	// Now is the clock, for tests. nil: time.Now.
	Now func() time.Time
}

// Policy says what happens to a note for which there is no room.
type Policy uint8

const (
	// Refuse refuses it with ErrFull: the model is told to forget something, and a capture fails and can be repeated.
	Refuse Policy = iota
	// DropUtterances deletes the oldest utterances to make room. Facts are never dropped: when only those are left, it is as
	// Refuse.
	DropUtterances
)

// Embedder turns texts into vectors. Two notes are close in meaning when the cosine of their vectors is large.
type Embedder struct {
	// Model names what made a vector. Vectors of another model are not compared; see Store.Reembed. What changes the vectors,
	// their length included, makes another model: a search that meets a length that is not Dimensions fails with ErrEmbedding.
	Model string
	// Dimensions is how long every vector is.
	Dimensions int
	// Embed returns a vector for each text, in their order. It is called outside of transactions, by several goroutines at
	// once. An error fails the call that needs the vectors, and nothing is stored.
	Embed func(ctx context.Context, r *EmbedRequest) ([][]float32, error)
}

// EmbedRequest asks for vectors.
type EmbedRequest struct {
	Texts []string
	Query bool // the texts are questions, not notes
}

var tablesGrammar = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)

// problems lists what cannot work.
func (o *Options) problems() (problems []error) {
	refuse := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: "+format, append([]any{ErrOption}, args...)...))
	}
	if !tablesGrammar.MatchString(o.Tables) {
		refuse("Tables is %q; it must match %s", o.Tables, tablesGrammar)
	}
	if o.MaxNoteBytes < 0 || o.MaxNotes < 0 {
		refuse("MaxNoteBytes and MaxNotes must not be negative")
	}
	if o.FactLife < 0 || o.UtteranceLife < 0 || o.OperationLife < 0 {
		refuse("FactLife, UtteranceLife and OperationLife must not be negative")
	}
	if o.WhenFull > DropUtterances {
		refuse("WhenFull is %d, which is no policy", o.WhenFull)
	}
	if e := o.Embedder; e != nil && (e.Model == "" || e.Dimensions <= 0 || e.Embed == nil) {
		refuse("Embedder needs Model, Dimensions and Embed")
	}
	if o.Vectors != nil && o.Embedder == nil {
		refuse("Vectors is of no use without Embedder")
	}
	return problems
}

func (o *Options) withDefaults() {
	if o.Tables == "" {
		o.Tables = DefaultTables
	}
	if o.MaxNoteBytes == 0 {
		o.MaxNoteBytes = DefaultMaxNoteBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}
