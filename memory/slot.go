package memory

import (
	"strings"
	"time"

	"github.com/recollect-go/recollect/scope"
)

// Slot is one named memory of an agent.
type Slot struct {
	// Name matches ^[A-Za-z][A-Za-z0-9_-]{0,63}$ and is unique; "eve" and names beginning with "eve__" are reserved.
	Name string
	// Description goes before the description of every tool of the slot. "" means none.
	Description string
	// Provider is required.
	Provider Provider
	// Scope is required.
	Scope scope.Resolver
	// Namespace nil means the default namespace of the application root or Vercel project.
	Namespace scope.NamespaceResolver
	// Visibility says which callers see a record once it is recalled.
	Visibility Visibility
	// Timeout bounds each of the slot's calls that the model waits for (resolving, recall, tools), in addition to the turn's
	// context. It holds also when the provider ignores its context. 0 means no bound of its own.
	Timeout time.Duration
	// BestEffort lets a turn start without this slot when it fails, resolver and limits included. The failure is logged and
	// observed, and the slot has no new records, tools or captures in that turn. Records of earlier turns stay visible if
	// its scope is known.
	BestEffort bool
	// Tools sees every tool of the slot, under its unqualified name, and returns it, another one, or false to leave it out.
	// nil keeps all of them.
	Tools func(Tool) (Tool, bool)
}

// Visibility says which callers of a session see a recalled record.
type Visibility string

const (
	// VisibilityScope shows a record only to turns of the scope that it was recalled for. It is the default; "" means it.
	VisibilityScope Visibility = "scope"
	// VisibilitySession shows a record to every later turn of the session in the same namespace. It is for one trusted
	// audience, and cannot take back what a model has answered.
	VisibilitySession Visibility = "session"
)

func (v Visibility) orDefault() Visibility {
	if v == "" {
		return VisibilityScope
	}
	return v
}

func (v Visibility) known() bool { return v == VisibilityScope || v == VisibilitySession }

// maxName is the limit of a name of a slot, a tool or a qualified tool, in characters.
const maxName = 64

// validName reports whether a name matches ^[A-Za-z][A-Za-z0-9_-]{0,63}$.
func validName(name string) bool {
	if name == "" || len(name) > maxName || !isLetter(name[0]) {
		return false
	}
	for i := 1; i < len(name); i++ {
		if c := name[i]; !isLetter(c) && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// reservedName reports whether a name belongs to eve.
func reservedName(name string) bool { return name == "eve" || strings.HasPrefix(name, "eve__") }

func validSlotName(name string) bool { return validName(name) && !reservedName(name) }
