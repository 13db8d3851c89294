package storetest

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/internal/docstore"
)

var keyRules = []Rule{
	{
		Name: "key-case",
		Text: "Keys that differ in the case of their letters only are different keys.",
		check: func(p *probe) {
			keys := caseVariants()
			versions := map[string]string{}
			for _, k := range keys {
				versions[k] = p.create(k, "document of "+k)
			}
			for _, k := range keys {
				p.requireStored(k, "document of "+k, versions[k])
			}
			require.NoError(p, p.store.Delete(p.ctx(), keys[0], versions[keys[0]]))
			p.requireAbsent(keys[0])
			for _, k := range keys[1:] {
				p.requireStored(k, "document of "+k, versions[k])
			}
		},
	},
	{
		Name: "key-alike",
		Text: "Keys that a pattern, a collation or a file name could take for one another are different keys.",
		check: func(p *probe) {
			keys := alike()
			for _, k := range keys {
				p.create(k, "document of "+k)
			}
			for _, k := range keys {
				p.requireStored(k, "document of "+k, "")
			}
		},
	},
	{
		Name: "key-invalid",
		Text: "A key outside the grammar is refused by every method with an error matching ErrInvalidKey.",
		check: func(p *probe) {
			for _, k := range invalidKeys() {
				p.requireInvalid(p.ctx(), k)
			}
		},
	},
}

func (p *probe) requireInvalid(ctx context.Context, k string) {
	_, _, err := p.store.Read(ctx, k)
	require.ErrorIs(p, err, docstore.ErrInvalidKey, "Read of %q", k)
	p.requireSane(err)
	_, err = p.store.Write(ctx, k, []byte("one"), "")
	require.ErrorIs(p, err, docstore.ErrInvalidKey, "Write of %q", k)
	p.requireSane(err)
	err = p.store.Delete(ctx, k, "")
	require.ErrorIs(p, err, docstore.ErrInvalidKey, "Delete of %q", k)
	p.requireSane(err)
}

// caseVariants returns keys that differ in case only.
func caseVariants() []string {
	mixed := "Q7dKpmZ_x-" + strings.Repeat("aB", 16) + "c"
	return []string{
		"memscope1_" + mixed,
		"memscope1_" + strings.ToLower(mixed),
		"memscope1_" + strings.ToUpper(mixed),
		"memscope1_q" + mixed[1:],
		"memscope1_" + mixed[:42] + "C",
	}
}

// alike returns keys that differ in one character that something may ignore or expand.
func alike() []string {
	rest := strings.Repeat("x", 42)
	return []string{
		"memscope1_-" + rest, "memscope1__" + rest, "memscope1_x" + rest, "memscope1_" + rest + "-", "memscope1_" + rest + "_",
		"memstate1_x" + rest, "m_x" + rest, "0_x" + rest,
	}
}

func invalidKeys() []string {
	digest := strings.Repeat("a", 43)
	return []string{
		"", "_", digest, "_" + digest, "memscope1_", "memscope1" + digest, "memscope1-" + digest,
		"memscope1_" + digest[1:], "memscope1_" + digest + "a", "memscope1_" + digest + "\n", " memscope1_" + digest,
		"Memscope1_" + digest, "mem_scope1_" + digest, "mémscope1_" + digest, "mem%_" + digest,
		"memscope1_" + digest[:42] + ".", "memscope1_" + digest[:42] + "/", "memscope1_" + digest[:42] + "\x00",
		"memscope1_" + digest[:42] + "%", "memscope1_" + digest[:42] + "=", "memscope1_" + digest[:41] + "é",
		"../memscope1_" + digest, "memscope1_" + digest + "/../../x", "/etc/passwd", `..\memscope1_` + digest,
		"memscope1_" + strings.Repeat("../", 14) + "a",
	}
}
