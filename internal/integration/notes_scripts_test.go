package integration_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// testNotesScripts guards that text is found in the language it was written in, whatever the script, the case and the
// inflection.
func testNotesScripts(t *testing.T, d database) {
	store, _ := d.notes(t, nil)
	key := keyOf("scripts")
	facts := map[string]string{
		"Chinese":  "数据库的备份每天凌晨三点开始。",
		"Japanese": "打ち合わせは毎週木曜日に大阪支社で行います。",
		"Katakana": "サーバーの名前はマリーゴールドです。",
		"Thai":     "การประชุมทีมจัดขึ้นที่กรุงเทพทุกวันจันทร์",
		"Korean":   "서울에서 근무하는 팀은 월요일에 회의를 합니다.",
		"German":   "Die Straße vor dem Büro heißt Große Bleichen.",
		"Turkish":  "İstanbul'daki ofisin ışıkları IŞIKLI tabelada yazıyor.",
		"Russian":  "Программист живёт в Москве и любит чай.",
		"Greek":    "Το γραφείο της Αθήνας κλείνει στις έξι.",
		"Arabic":   "الاجتماع الأسبوعي يوم الخميس في القاهرة.",
		"Hebrew":   "הפגישה השבועית בתל אביב.",
		"Hindi":    "बैठक हर सोमवार को मुंबई में होती है।",
		"French":   "Le café préféré d'Amélie est à côté de l'hôtel.",
		"English":  "The engineers bought two new ovens for the children's kitchen.",
		"Emoji":    "The team's mascot is 🦔.",
	}
	for _, text := range facts {
		addFacts(t, store, key, text)
	}
	for _, c := range []struct{ language, query string }{
		{"Chinese", "备份什么时候开始？"}, {"Chinese", "数据库"}, {"Chinese", "点"},
		{"Japanese", "大阪での打ち合わせ"}, {"Japanese", "木曜日"},
		{"Katakana", "マリーゴールド"}, {"Katakana", "ﾏﾘｰｺﾞｰﾙﾄﾞ"}, {"Katakana", "サーバ"},
		{"Thai", "ประชุมที่กรุงเทพ"},
		{"Korean", "서울 팀"},
		{"German", "STRASSE"}, {"German", "strasse buro"}, {"German", "GROẞE"},
		{"Turkish", "istanbul"}, {"Turkish", "İSTANBUL"}, {"Turkish", "ISTANBUL"}, {"Turkish", "ışıklı"}, {"Turkish", "isikli"},
		{"Russian", "Москва"}, {"Russian", "программисты"}, {"Russian", "МОСКВУ"}, {"Russian", "живет"},
		{"Greek", "ΑΘΗΝΑ"}, {"Greek", "αθηνα"},
		{"Arabic", "اجتماع"}, {"Arabic", "القاهره"}, {"Arabic", "الاِجْتِماع"},
		{"Hebrew", "תל אביב"},
		{"Hindi", "मुंबई"},
		{"French", "cafe amelie"}, {"French", "HÔTEL"}, {"French", "cafe\u0301"},
		{"English", "What did the engineer buy?"}, {"English", "oven"}, {"English", "ＫＩＴＣＨＥＮ"}, {"English", "child"},
		{"Emoji", "🦔"},
	} {
		found := searchFacts(t, store, key, c.query)
		require.NotEmpty(t, found, "%s: %s", c.language, c.query)
		require.Equal(t, facts[c.language], found[0], "%s: %s", c.language, c.query)
	}
}
