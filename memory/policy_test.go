package memory_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
)

func message(t testing.TB, text string) memory.Message {
	t.Helper()
	var m memory.Message
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	return m
}

func toolText(callID, text string) memory.Message {
	output, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return memory.ToolMessage(memory.ToolResultPart{CallID: callID, Name: "run", Output: output})
}

func TestPolicyListsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	bad := memory.Policy{ContextWindow: -1, Threshold: math.NaN(), Envelope: -1, SummaryOverhead: -1, ToolResultBytes: 1}
	err := bad.Validate()
	require.Error(t, err)
	for _, field := range []string{"ContextWindow", "Threshold", "Envelope", "SummaryOverhead", "ToolResultBytes"} {
		assert.ErrorContains(t, err, field)
	}
	assert.ErrorIs(t, err, memory.ErrConfig)
	assert.NoError(t, (&memory.Policy{}).Validate())
	for _, p := range []memory.Policy{{ContextWindow: math.MaxInt64}, {Envelope: math.MaxInt64}, {SummaryOverhead: math.MaxInt64}} {
		assert.ErrorIs(t, p.Validate(), memory.ErrConfig, "sums of it would overflow")
	}
	unlimited := memory.Policy{ContextWindow: 1 << 50, Threshold: 1}
	require.NoError(t, unlimited.Validate())
	assert.Equal(t, int64(1<<50), unlimited.Limit())
	assert.NoError(t, (*memory.Policy)(nil).Validate())
}

func TestPolicyLimitIsNineTenthsOfTheWindow(t *testing.T) {
	t.Parallel()
	assert.Equal(t, int64(90_000), (*memory.Policy)(nil).Limit(), "an unknown window counts as 100000")
	assert.Equal(t, int64(180_000), (&memory.Policy{ContextWindow: 200_000}).Limit())
	assert.Equal(t, int64(100), (&memory.Policy{ContextWindow: 200, Threshold: 0.5}).Limit())
	assert.Equal(t, int64(1), (&memory.Policy{ContextWindow: 1, Threshold: 0.1}).Limit())
}

func TestPolicyCountsBytesNotCharacters(t *testing.T) {
	t.Parallel()
	p := new(memory.Policy)
	latin := p.Estimate([]memory.Message{memory.UserMessage(strings.Repeat("a", 4000))})
	chinese := p.Estimate([]memory.Message{memory.UserMessage(strings.Repeat("记", 4000))})
	assert.InDelta(t, 1000, latin, 15)
	assert.InDelta(t, 3000, chinese, 15)
}

func TestPolicyDueCountsEnvelopeOverheadAndExcess(t *testing.T) {
	t.Parallel()
	messages := []memory.Message{memory.UserMessage(strings.Repeat("a", 4000))}
	p := &memory.Policy{ContextWindow: 10_000, Threshold: 1}
	assert.False(t, p.Due(&memory.Load{Messages: messages}))
	assert.True(t, p.Due(&memory.Load{Messages: messages, Envelope: 9000}))
	assert.True(t, p.Due(&memory.Load{Messages: messages, Excess: 9000}))
	assert.False(t, p.Due(&memory.Load{Envelope: 20_000}), "an empty history cannot be compacted")
	p.SummaryOverhead = 9000
	assert.True(t, p.Due(&memory.Load{Messages: messages}))
	p = &memory.Policy{ContextWindow: 10_000, Threshold: 1, Envelope: 9000}
	assert.True(t, p.Due(&memory.Load{Messages: messages}))
	assert.False(t, p.Due(&memory.Load{Messages: messages, Envelope: 10}), "the request's own envelope takes the place of the policy's")
}

func TestPolicyTakesTheHigherCount(t *testing.T) {
	t.Parallel()
	p := new(memory.Policy)
	messages := []memory.Message{memory.UserMessage(strings.Repeat("a", 4000))}
	load := &memory.Load{Messages: messages, Envelope: 100}
	measured := p.Tokens(load)
	assert.Zero(t, p.Excess(load, measured-1), "a lower count changes nothing")
	load.Excess = p.Excess(load, measured+500)
	assert.Equal(t, measured+500, p.Tokens(load))
	load.Messages = append(messages, memory.AssistantMessage(strings.Repeat("b", 400)))
	assert.Greater(t, p.Tokens(load), measured+500+100, "what came since is estimated on top")
}

func pngOf(t testing.TB, width, height int) string {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestPolicyCountsMediaByTable(t *testing.T) {
	t.Parallel()
	var jpg bytes.Buffer
	require.NoError(t, jpeg.Encode(&jpg, image.NewGray(image.Rect(0, 0, 56, 28)), nil))
	urlAlphabet := strings.NewReplacer("+", "-", "/", "_")
	require.NotEqual(t, pngOf(t, 57, 28), urlAlphabet.Replace(pngOf(t, 57, 28)))
	pdf := base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 /Type /Pages /Type /Page /Type/Page\n"))
	for _, test := range []struct {
		name string
		part memory.MediaPart
		want int64
	}{
		{"image by its squares", memory.MediaPart{Type: "image/png", Base64: pngOf(t, 57, 28)}, 3},
		{"image of another format", memory.MediaPart{Type: "image/jpeg", Base64: base64.StdEncoding.EncodeToString(jpg.Bytes())}, 2},
		{"image without padding", memory.MediaPart{Type: "image/png", Base64: strings.TrimRight(pngOf(t, 28, 28), "=")}, 1},
		{"image in the alphabet of URLs", memory.MediaPart{Type: "image/png", Base64: urlAlphabet.Replace(pngOf(t, 57, 28))}, 3},
		{"large image up to the maximum", memory.MediaPart{Type: "image/png", Base64: pngOf(t, 4000, 4000)}, 4784},
		{"image of an unknown size", memory.MediaPart{Type: "image/webp", Base64: "AAAA"}, 4784},
		{"image elsewhere", memory.MediaPart{Type: "image/*", URL: "https://example.com/a.png"}, 4784},
		{"PDF by its pages", memory.MediaPart{Type: "application/pdf", Base64: pdf}, 6000},
		{"PDF without visible pages", memory.MediaPart{Type: "application/pdf", Base64: "AAAA"}, 3000},
		{"other content by its bytes", memory.MediaPart{Type: "audio/wav", Base64: base64.StdEncoding.EncodeToString(make([]byte, 301))}, 101},
		{"other content elsewhere as text", memory.MediaPart{Type: "audio/wav", URL: strings.Repeat("u", 40)}, 10},
	} {
		assert.Equal(t, test.want, memory.DefaultMediaTokens(&test.part), test.name)
	}
}

func TestPolicyCountsMediaInEveryPlace(t *testing.T) {
	t.Parallel()
	picture := pngOf(t, 280, 280) // 100 tokens
	noise := base64.StdEncoding.EncodeToString(make([]byte, 300_000))
	p := new(memory.Policy)
	for name, text := range map[string]string{
		"image":           `{"role":"user","content":[{"type":"image","image":"` + picture + `"}]}`,
		"image data URL":  `{"role":"user","content":[{"type":"image","image":"data:image/png;base64,` + picture + `"}]}`,
		"file":            `{"role":"user","content":[{"type":"file","mediaType":"image/png","data":"` + picture + `"}]}`,
		"file object":     `{"role":"user","content":[{"type":"file","mediaType":"image/png","data":{"type":"data","data":"` + picture + `"}}]}`,
		"in tool results": `{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"shot","output":{"type":"content","value":[{"type":"media","mediaType":"image/png","data":"` + picture + `"}]}}]}`,
	} {
		assert.InDelta(t, 130, p.Estimate([]memory.Message{message(t, text)}), 30, name)
	}
	elsewhere := message(t, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"shot","output":{"type":"content","value":[{"type":"image-url","url":"https://example.com/1.png"}]}}]}`)
	assert.InDelta(t, 4800, p.Estimate([]memory.Message{elsewhere}), 50, "an image that a tool result refers to")
	loud := message(t, `{"role":"user","content":[{"type":"file","mediaType":"image/webp","data":"`+noise+`"}]}`)
	assert.InDelta(t, 4800, p.Estimate([]memory.Message{loud}), 50, "not the 100000 of its base64 text")
	own := &memory.Policy{Media: func(m *memory.MediaPart) (int64, bool) { return 7, m.Type == "image/webp" }}
	assert.InDelta(t, 25, own.Estimate([]memory.Message{loud}), 10, "the host's table comes first")
	named := memory.UserMessage(`a text that says "image" and "file"`)
	assert.InDelta(t, 20, p.Estimate([]memory.Message{named}), 10)
}

func TestShortenKeepsHeadAndTailAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	text := "BEGIN " + strings.Repeat("x", 50_000) + " exit code 3"
	p := new(memory.Policy)
	before := []memory.Message{memory.UserMessage("go"), toolText("1", text), memory.UserMessage(text)}
	after, n := p.Shorten(before)
	require.Equal(t, 1, n)
	result := resultText(t, after[1])
	assert.LessOrEqual(t, len(result), 2000)
	assert.True(t, strings.HasPrefix(result, "BEGIN x"))
	assert.True(t, strings.HasSuffix(result, "x exit code 3"))
	assert.Regexp(t, `\[… \d+ of 50018 bytes left out`, result)
	assert.Equal(t, text, resultText(t, before[1]), "the argument is left alone")
	assert.Equal(t, text, after[2].Text(), "what a person says is never shortened")
	again, n := p.Shorten(after)
	assert.Zero(t, n, "a shortened result never shrinks again")
	assert.Equal(t, after, again)
}

func resultText(t testing.TB, m memory.Message) string {
	t.Helper()
	results := m.ToolResults()
	require.Len(t, results, 1)
	var text string
	require.NoError(t, json.Unmarshal(results[0].Output, &text))
	return text
}

func TestShortenNeverSplitsACharacter(t *testing.T) {
	t.Parallel()
	p := &memory.Policy{ToolResultBytes: 256}
	for shift := range 8 {
		text := strings.Repeat("a", shift) + strings.Repeat("记忆👩", 400)
		after, n := p.Shorten([]memory.Message{toolText("1", text)})
		require.Equal(t, 1, n)
		result := resultText(t, after[0])
		assert.True(t, utf8.ValidString(result))
		assert.NotContains(t, result, "\uFFFD")
		assert.LessOrEqual(t, len(result), 256)
	}
}

func TestShortenKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("y", 5000)
	m := message(t, `{"role":"tool","extra":{"b":1,"a":2},"content":[`+
		`{"type":"tool-result","toolCallId":"1","toolName":"run","output":{"type":"error-json","value":{"why":"`+long+`"}},"providerOptions":{"z":1}},`+
		`{"type":"tool-result","toolCallId":"2","toolName":"run","output":{"type":"text","value":"short"}},`+
		`{"type":"tool-approval-response","approvalId":"`+long+`"}]}`)
	after, n := new(memory.Policy).Shorten([]memory.Message{m})
	require.Equal(t, 1, n)
	encoded, err := after[0].MarshalJSON()
	require.NoError(t, err)
	assert.Contains(t, string(encoded), `"extra":{"b":1,"a":2}`)
	assert.Contains(t, string(encoded), `"providerOptions":{"z":1}`)
	assert.Contains(t, string(encoded), `"approvalId":"`+long+`"`)
	results := after[0].ToolResults()
	require.Len(t, results, 2)
	assert.True(t, results[0].IsError, "a failure stays a failure")
	assert.JSONEq(t, `"short"`, string(results[1].Output))
}

func TestShortenNamesAttachmentsOfOldResults(t *testing.T) {
	t.Parallel()
	m := message(t, `{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"shot","output":{"type":"content","value":[`+
		`{"type":"text","text":"the page"},{"type":"media","mediaType":"image/png","data":"`+pngOf(t, 300, 300)+`"}]}}]}`)
	p := new(memory.Policy)
	after, n := p.Shorten([]memory.Message{m})
	require.Equal(t, 1, n)
	assert.Regexp(t, `^the page\n\[attachment image/png, \d+ bytes\]$`, resultText(t, after[0]))
	_, n = p.Shorten(after)
	assert.Zero(t, n)
}

func TestShortenNeverMakesAMessageLonger(t *testing.T) {
	t.Parallel()
	quotes := strings.Repeat(`"`, 2100)
	m := memory.ToolMessage(memory.ToolResultPart{CallID: "1", Name: "run", Output: json.RawMessage(fmt.Sprintf("[%s0]", strings.Repeat("1,", 1000)))})
	p := new(memory.Policy)
	for _, before := range []memory.Message{m, toolText("1", quotes)} {
		after, _ := p.Shorten([]memory.Message{before})
		assert.LessOrEqual(t, p.Estimate(after), p.Estimate([]memory.Message{before}))
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("short", 0)
	f.Add(strings.Repeat("记忆", 600), 256)
	f.Add(strings.Repeat("\x00\"\\", 900), 300)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		p := &memory.Policy{ToolResultBytes: limit}
		if p.Validate() != nil || !utf8.ValidString(text) {
			return
		}
		before := []memory.Message{toolText("1", text)}
		once, _ := p.Shorten(before)
		twice, n := p.Shorten(once)
		require.Zero(t, n)
		require.Equal(t, once, twice)
		require.LessOrEqual(t, p.Estimate(once), p.Estimate(before))
		require.NoError(t, once[0].Validate())
		require.True(t, utf8.ValidString(resultText(t, once[0])))
	})
}
