package state

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Registry holds which handles are defined, not their values. The zero Registry is empty and ready; it may be used
// concurrently and must not be copied.
type Registry struct {
	mu      sync.Mutex
	defined map[string]Definition
}

// Definition is what a registry knows of a handle.
type Definition struct {
	Name    string
	Type    reflect.Type // of the handle's values
	PerTurn bool         // the value starts fresh in every turn
}

// defaultRegistry is the one that Define uses.
var defaultRegistry Registry

// DefaultRegistry returns the registry of the handles that Define made.
func DefaultRegistry() *Registry { return &defaultRegistry }

// Definitions returns what is defined, sorted by name. The caller owns the slice.
func (r *Registry) Definitions() []Definition {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Definition, 0, len(r.defined))
	for _, d := range r.defined {
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// add records d, or returns an error matching ErrName. The same definition again is the same slot.
func (r *Registry) add(d Definition) error {
	if err := checkHandleName(d.Name); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before, taken := r.defined[d.Name]
	if taken && before != d {
		return fmt.Errorf("%w: %q is already defined as %s", ErrName, d.Name, before.describe())
	}
	if r.defined == nil {
		r.defined = map[string]Definition{}
	}
	r.defined[d.Name] = d
	return nil
}

func (d Definition) describe() string {
	if d.PerTurn {
		return d.Type.String() + " per turn"
	}
	return d.Type.String()
}

// checkHandleName refuses the names that the eve framework keeps for itself.
func checkHandleName(name string) error {
	if err := checkText("handle name", name); err != nil {
		return fmt.Errorf("%w: %w", ErrName, err)
	}
	for _, reserved := range []string{"eve.", "eve:mount."} {
		if strings.HasPrefix(name, reserved) {
			return fmt.Errorf("%w: %q begins with the reserved %q", ErrName, name, reserved)
		}
	}
	return nil
}
