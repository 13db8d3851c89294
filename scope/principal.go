package scope

import (
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
)

// Types of principals that a resolver treats in a way of its own. Hosts may use others.
const (
	TypeUser      = "user"
	TypeAnonymous = "anonymous" // nobody is known; has no personal memory
	TypeRuntime   = "runtime"   // the agent itself; has no personal memory
	TypeLocalDev  = "local-dev" // whoever develops the agent on this machine
)

// Principal is an authenticated caller as the host's identity system describes it. Every field is trusted, and must be valid UTF-8. Make
// fields short: ByPrincipal puts all four of them into one scope component, and a text over MaxComponentBytes fails that principal's turns.
type Principal struct {
	Type          string         `json:"principalType"`
	Authenticator string         `json:"authenticator"`
	Issuer        *string        `json:"issuer,omitempty"` // nil when absent, which is not the same as empty
	ID            string         `json:"principalId"`
	Attributes    map[string]any `json:"attributes"` // JSON values
}

// plain has the fields of Principal without its methods.
type plain Principal

// MarshalJSON writes the members that eve writes; attributes is {} when nil. Text that is not valid UTF-8 is an error matching
// ErrInvalidUTF8.
func (p Principal) MarshalJSON() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.Attributes == nil {
		p.Attributes = map[string]any{}
	}
	return json.Marshal(plain(p))
}

// UnmarshalJSON reads what MarshalJSON writes and ignores members it does not know. Text without a UTF-8 form, a lone surrogate included,
// is an error matching ErrInvalidUTF8.
func (p *Principal) UnmarshalJSON(data []byte) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	var read plain
	if err := json.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("scope: principal: %w", err)
	}
	*p = Principal(read)
	return nil
}

func (p *Principal) check() error {
	if err := p.checkIdentity(); err != nil {
		return err
	}
	if !isText(p.Attributes) {
		return fmt.Errorf("%w: attribute of a principal", ErrInvalidUTF8)
	}
	return nil
}

// checkIdentity checks what ByPrincipal reads.
func (p *Principal) checkIdentity() error {
	for _, text := range [...]string{p.Type, p.Authenticator, p.issuer(), p.ID} {
		if ecma.Valid(text) != nil {
			return fmt.Errorf("%w: principal", ErrInvalidUTF8)
		}
	}
	return nil
}

func (p *Principal) issuer() string {
	if p.Issuer == nil {
		return ""
	}
	return *p.Issuer
}

// isText reports whether every string of a JSON value is valid UTF-8.
func isText(value any) bool {
	switch v := value.(type) {
	case string:
		return ecma.Valid(v) == nil
	case []string:
		for _, item := range v {
			if !isText(item) {
				return false
			}
		}
	case []any:
		for _, item := range v {
			if !isText(item) {
				return false
			}
		}
	case map[string]any:
		for name, item := range v {
			if !isText(name) || !isText(item) {
				return false
			}
		}
	}
	return true
}
