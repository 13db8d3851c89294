package scope

// Principal is an authenticated caller as the host's identity system describes it. Every field is trusted.
type Principal struct {
	Type          string         `json:"principalType"`
	Authenticator string         `json:"authenticator"`
	Issuer        *string        `json:"issuer,omitempty"` // nil when absent, which is not the same as empty
	ID            string         `json:"principalId"`
	Attributes    map[string]any `json:"attributes"`
}
