package scope

import (
	"encoding/json"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
	"github.com/recollect-go/recollect/internal/rawjson"
)

// Types of principals that a resolver treats in a way of its own. Hosts may use others.
const (
	TypeUser      = "user"
	TypeAnonymous = "anonymous" // nobody is known; has no personal memory
	TypeRuntime   = "runtime"   // the agent itself; has no personal memory
	TypeLocalDev  = "local-dev" // whoever develops the agent on this machine
)

// Principal is an authenticated caller as the host's identity system describes it. Every field is trusted, and must be valid
// UTF-8. Make fields short: ByPrincipal puts all four of them into one scope component, and a text over MaxComponentBytes
// fails that principal's turns.
type Principal struct {
	Type          string  `json:"principalType"`
	Authenticator string  `json:"authenticator"`
	Issuer        *string `json:"issuer,omitempty"` // nil when absent, which is not the same as empty
	ID            string  `json:"principalId"`

	// Attributes holds JSON values. Identifiers among them are best text: whoever decodes a token into a float64 has made
	// one of all integers that are close together beyond 2^53, before anything here can see it. json.Decoder.UseNumber does
	// not.
	Attributes map[string]any `json:"attributes"`
}

// plain has the fields of Principal without its methods.
type plain Principal

// MarshalJSON writes the members that eve writes; attributes is {} when nil. What UnmarshalJSON would refuse is an error, as
// a json.RawMessage may be; text that is not valid UTF-8 matches ErrInvalidUTF8.
func (p Principal) MarshalJSON() ([]byte, error) {
	if err := p.checkIdentity(); err != nil {
		return nil, err
	}
	if p.Attributes == nil {
		p.Attributes = map[string]any{}
	}
	text, err := json.Marshal(plain(p))
	if err != nil {
		return nil, fmt.Errorf("scope: principal: %w", err)
	}
	if ecma.Replaced(text) {
		return nil, fmt.Errorf("%w: attribute of a principal", ErrInvalidUTF8)
	}
	var back Principal
	if err := back.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return text, nil
}

// UnmarshalJSON reads what MarshalJSON writes and ignores members it does not know. Names match exactly, unlike
// encoding/json's, and a member that is given twice or has another type is an error, among the attributes too: an identity
// has one reading. Text without a UTF-8 form, a lone surrogate included, is an error matching ErrInvalidUTF8. A number among
// the attributes becomes a float64 if that is written as the same number, else, as an integer beyond 2^53, a json.Number:
// nothing is rounded.
func (p *Principal) UnmarshalJSON(data []byte) error {
	if err := checkJSON(data); err != nil {
		return err
	}
	read, err := readPrincipal(data)
	if err != nil {
		return fmt.Errorf("scope: principal: %w", err)
	}
	*p = read
	return nil
}

func readPrincipal(data []byte) (p Principal, err error) {
	compact, err := rawjson.Compact(data)
	if err != nil {
		return p, err
	}
	members, err := rawjson.Members(compact)
	if err != nil {
		return p, err
	}
	for _, member := range members {
		if err := p.read(member); err != nil {
			return p, fmt.Errorf("%q: %w", member.Name, err)
		}
	}
	return p, nil
}

func (p *Principal) read(member rawjson.Member) (err error) {
	switch member.Name {
	case "principalType":
		p.Type, err = rawjson.String(member.Value)
	case "authenticator":
		p.Authenticator, err = rawjson.String(member.Value)
	case "issuer":
		err = json.Unmarshal(member.Value, &p.Issuer)
	case "principalId":
		p.ID, err = rawjson.String(member.Value)
	case "attributes":
		p.Attributes, err = readAttributes(member.Value)
	}
	return err
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
