package scope

// Keys are the derived identifiers of one namespace and scope.
type Keys struct {
	Key       string // partition key of every read and write, "memscope1_…"
	Namespace string // "memns1_…"
	Scope     string // "memscope1_…", digest of the scope alone; never a partition key
}

// Derive returns the keys of a namespace and a scope.
func Derive(n Namespace, s Scope) (Keys, error) { panic("scope: being written") }
