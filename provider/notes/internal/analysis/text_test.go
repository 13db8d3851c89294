package analysis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// same reports whether a text has the one term that another text is.
func same(t *testing.T, text, word string) bool {
	t.Helper()
	q := Question(word).Words
	require.NotEmpty(t, q, word)
	all := Of(text)
	return !slices.ContainsFunc(q, func(term Term) bool { return !slices.Contains(all.Words, term) && !slices.Contains(all.Extra, term) })
}

func TestFormsOfAWordAreOneTerm(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"straße STRASSE Strasse STRAẞE", "Istanbul İSTANBUL istanbul ıstanbul", "café CAFE cafe\u0301 Cafés",
		"engineer engineers ENGINEER’S", "buy bought buys buying", "child children", "go going", "ｆｕｌｌ full",
		"ёлка елка ЁЛКА", "Αθήνα ΑΘΗΝΑ αθηνα", "ςςς σσσ ΣΣΣ", "الكتاب كتاب كِتاب", "Łódź lodz", "fjørd fjord", "encyclopædia encyclopaedia",
		"ガス ｶﾞｽ カ\u3099ス", "パリ ﾊﾟﾘ ハ\u309aリ", "がく か\u3099く", "ヴァン ｳﾞｧﾝ", "한국말 \u1112\u1161\u11ab\u1100\u116e\u11a8\u1106\u1161\u11af",
		"йод и\u0306од", "قرآن قرا\u0653ن", "\u0958लम क\u093cलम", "Việt Vie\u0323\u0302t VIET",
		"soft\u00adhyphen softhyphen", "zero\u200bwidth zerowidth", "नमस्ते नमस्ते", "マリ ﾏﾘ",
	} {
		words := strings.Fields(forms)
		for _, word := range words[1:] {
			require.True(t, same(t, words[0], word), "%s is not found by %s", words[0], word)
			require.True(t, same(t, word, words[0]), "%s is not found by %s", word, words[0])
		}
	}
}

func TestDifferentWordsAreDifferentTerms(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"Berlin", "Bern"}, {"日本", "本日"}, {"मा", "मी"}, {"ใกล้", "ไกล"}, {"a1", "a2"}, {"universe", "unit"}, {"🦔", "🦊"}} {
		require.False(t, same(t, pair[0], pair[1]), "%v", pair)
	}
}

func TestScriptsWithoutSpacesArePairs(t *testing.T) {
	t.Parallel()
	text := Of("数据库 abc")
	require.Len(t, text.Words, 3, "two pairs and a word")
	require.Len(t, text.Extra, 3, "three characters")
	require.Equal(t, []Term{termOf([]byte("数据")), termOf([]byte("据库")), termOf([]byte("abc"))}, text.Words)
	require.Equal(t, []Term{termOf([]byte("点"))}, Of("点").Words, "a single character is a word")
	require.Equal(t, []Term{termOf([]byte("ที่นี่"))}, Of("ที่นี่").Words, "marks stay with their letters")
}

func TestEndingsBehindApostrophesAreNoWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, Of("don Amelie").Words, Of("don't Amelie's").Words)
	require.Equal(t, Of("o brien").Words, Of("O'Brien").Words)
	require.Equal(t, Of("istanbul da").Words, Of("İstanbul'da").Words)
	require.Equal(t, Of("a s b").Words, Of("a s b").Words, "an s by itself is one")
}

func TestNegatedVerbsAreStopWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, Question("Ada come").Words, Question("Why didn't Ada come? Couldn’t she? Wasn't she, hasn't she, doesn't she?").Words)
	require.NotEmpty(t, Question("Who won?").Words, "won is a word")
}

func TestStopWordsCountInAQuestionOfNothingElse(t *testing.T) {
	t.Parallel()
	require.Equal(t, Of("oboe").Words, Question("What is the oboe?").Words)
	require.Equal(t, Of("what is the").Words, Question("What is the").Words)
	require.Empty(t, Question("?!").Words)
}

func TestLongQuestionsKeepTheirEnds(t *testing.T) {
	t.Parallel()
	words := make([]string, 1000)
	for i := range words {
		words[i] = "w" + strings.Repeat("x", i)
	}
	q := Question(strings.Join(words, " "))
	require.Len(t, q.Words, MaxTerms)
	require.Equal(t, termOf([]byte(words[0])), q.Words[0])
	require.Equal(t, termOf([]byte(words[999])), q.Words[MaxTerms-1])
}

func TestDatesInQuestions(t *testing.T) {
	t.Parallel()
	day := DateTerms(time.Date(2024, time.May, 8, 0, 0, 0, 0, time.UTC))
	for question, want := range map[string]int{
		"on 8 May 2024": 5, "May 8th, 2024": 5, "8th of May": 2, "in May 2024": 3, "in may": 1, "2024-05-08": 5, "2024/5/8": 5, "2024年5月8日": 5, "5月8日": 2, "in 2024": 1,
		"you may go": 0, "on 9 May 2024": 3, "2023": 0, "2024-13-40": 1,
	} {
		found := 0
		for _, term := range Question(question).Hints {
			if slices.Contains(day, term) {
				found++
			}
		}
		require.Equal(t, want, found, question)
	}
}

func TestQuestionsLookForWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	require.Contains(t, Question("When did it happen?").Hints, timeTerm)
	require.Contains(t, Of("It happened yesterday.").Extra, timeTerm)
	require.NotContains(t, Of("It happened.").Extra, timeTerm)
	require.Contains(t, Question("How many goats?").Hints, numberTerm)
	require.Contains(t, Of("Eleven goats.").Extra, numberTerm)
	require.Contains(t, Of(`"Really?"`).Extra, Asks)
	require.NotContains(t, Of("Really?").Distinct(), Asks)
}

// FuzzOf guards that every text can be read, that its terms survive their encoding, and that a text of one word is found by
// itself.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "a", "The engineers' ovens", "数据库的备份", "กรุงเทพ", "İstanbul'da", "a\u0301\u0301", "\xff\xfe", "🦔🦔", "ﾏﾘ", "'''s", "नमस्ते", "الكتاب", "8 May 2024 2024年"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		terms := Of(text)
		decoded, err := Decode(terms.Encode())
		require.NoError(t, err)
		require.Equal(t, terms.Distinct(), decoded.Distinct())
		require.Len(t, decoded.Words, len(terms.Words))
		for _, term := range Question(text).Words {
			require.Contains(t, terms.Distinct(), term, "not found by itself: %q", text)
		}
	})
}

// FuzzDecode guards that malformed terms are refused, and everything else encodes to itself.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(Of("two words").Encode())
	f.Add([]byte{Version, 1, 0})
	f.Add([]byte{Version, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := Decode(data)
		if err != nil {
			require.ErrorIs(t, err, ErrMalformed)
			return
		}
		again, err := Decode(text.Encode())
		require.NoError(t, err)
		require.Equal(t, text, again)
	})
}

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat("The engineers bought two new ovens for the kitchen of the Berlin office yesterday. ", 2)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}
