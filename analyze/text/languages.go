package text

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// languages are, for languages besides English, the stems of an order to a model: to
// disregard what it was told, or to tell the user nothing. The order of the words
// differs, so a sentence that holds one of each list is an order.
var languages = []struct {
	name string
	// disregard, earlier and orders make "ignore all earlier instructions".
	disregard, earlier, orders string
	// tell, user and nothing make "tell the user nothing".
	tell, user, nothing string
}{
	{"German", "ignoriere|ignorier |missachte|vergiss|vergesst|setz dich hinweg", "alle|bisherig|vorherig|vorig|früher|obig", "anweisung|instruktion|vorgabe|regel|befehl", "sag|erzähl|verrat|mitteil|erwähn|informier", "benutzer|nutzer|anwender", "nichts|niemals"},
	{"French", "ignore|oublie|néglige|laisse de côté|ne tiens pas compte|fais abstraction", "toutes|précédent|antérieur|ci-dessus|reçu", "instruction|consigne|règle", "dis|dites|dire|révèle|mentionne|informe", "utilisateur", "rien|jamais"},
	{"Spanish", "ignor|olvid|descart|deja de lado|haz caso omiso|no hagas caso", "todas|anterior|previa|te dieron|recibid", "instruccion|indicacion|reglas", "digas|decir|reveles|menciones|informes|cuentes", "usuario", "nada|nunca"},
	{"Portuguese", "ignor|esqueç|descart|desconsider|deixe de lado", "todas|anterior|prévia|recebid", "instruç|instruco|regras", "diga|dizer|revele|mencione|informe|conte", "usuário|utilizador|usuario", "nada|nunca"},
	{"Italian", "ignor|dimentic|trascur|lascia perdere|non tenere conto", "tutte|precedent|anterior|ricevut", "istruzion|indicazion|regole", "dire|rivel|menzion|inform", "utente", "niente|nulla|mai"},
	{"Dutch", "negeer|vergeet", "alle|vorige|eerdere|bovenstaande|gekregen", "instructie|aanwijzing|opdracht|regels", "vertel|zeg|onthul|vermeld|informeer", "gebruiker", "niets|nooit"},
	{"Polish", "ignoruj|zignoruj|zapomnij|pomiń", "wszystkie|poprzedni|wcześniejsz|otrzyman", "instrukcj|polece|zasad|reguł", "mów|powiedz|ujawni|wspomin|informuj", "użytkownik", "nic|nigdy"},
	{"Russian", "игнорир|проигнорир|забудь|оставь без внимания|не обращай внимания|отбрось", "все|предыдущ|прежн|полученн|ранее", "инструкци|указани|правил", "говори|сообщай|раскрывай|упоминай", "пользовател", "ничего|никогда"},
	{"Turkish", "yok say|görmezden|unut|bir yana bırak|dikkate alma", "tüm|önceki|daha önce", "talimat|kural", "söyle|bahset|bildir", "kullanıcı", "hiçbir|asla"},
	{"Chinese", "忽略|无视|無視|忘记|取代|抛开|不理会", "之前|以前|先前|所有|以上", "指令|指示|说明|规则|要求", "告诉|告知|透露|提及", "用户|用戶", "不要|切勿|绝不|(?:^|[^级類类性特区分个差识判])别"},
	{"Japanese", "無視|忘れ|捨て", "以前|これまで|すべて|全て|上記|先に", "指示|命令|規則|ルール", "伝え|知らせ|教え|言わ|明かさ", "ユーザ|利用者", "ないで|なにも|何も|決して|ずに"},
	{"Arabic", "تجاهل|انس|وتجاهل|دع|أهمل", "جميع|السابقة|كل|أعلاه|من قبل|تلقيت", "التعليمات|تعليمات|الأوامر|التوجيهات|القواعد", "تخبر|تقل|تذكر|تبلغ", "المستخدم", "لا|أبدا|شيئا"},
	{"Korean", "무시|잊어|버리", "이전|모든|앞선|위의|앞서", "지시|명령|지침|규칙", "말하|알리|언급|밝히", "사용자", "마세요|말고|절대|않"},
}

// foreign are the expressions of languages, with the words without which none matches.
var foreign = sync.OnceValue(func() (out []foreignOrder) {
	for _, l := range languages {
		word := func(s string) string { return `(?:` + s + `)` }
		const near, sentence = `[^.!?。！？\n]{0,25}?`, `[^.!?。！？\n]{0,40}?`
		a, b := word(l.earlier), word(l.orders)
		t, u, z := word(l.tell), word(l.user), word(l.nothing)
		begin := `(?:^|[^\pL])`
		if strings.ContainsAny(l.disregard, "無") {
			begin = "" // no blanks part the words
		}
		orders := begin + word(l.disregard) + sentence + `(?:` + a + near + b + `|` + b + near + a + `)`
		if begin == "" || l.name == "Korean" || l.name == "Turkish" { // the verb stands last
			orders += `|` + a + near + b + sentence + word(l.disregard)
		}
		// A comma ends the clause in which nothing is to be told.
		clause := `[^.!?,;。！？\n]{0,25}?`
		silence := begin + `(?:` + t + sentence + u + clause + z + `|` + z + clause + t + sentence + u + `|` + u + clause + z + clause + t + `|` + t + clause + z + sentence + u + `|` + z + clause + u + clause + t + `|` + u + clause + t + clause + z + `)`
		order := lazyregexp.New(`(?is)` + orders + `|` + silence)
		out = append(out, foreignOrder{alternatives(l.orders, l.disregard, l.earlier), alternatives(l.user, l.tell, l.nothing), order})
	}
	return out
})

// foreignOrder is how one language orders a model. Its expression is made when a text holds
// a word of each list of disregards or of silences: most runs of the program meet none.
type foreignOrder struct {
	disregards, silences [][][]byte
	order                *lazyregexp.Regexp
}

// foreignSigns are the words in ASCII of which a foreign order in ASCII holds one.
func foreignSigns() string {
	var out []string
	for _, f := range foreign() {
		for _, w := range slices.Concat(f.disregards[0], f.silences[0]) {
			if !slices.ContainsFunc(w, func(c byte) bool { return c >= 0x80 }) {
				out = append(out, string(w))
			}
		}
	}
	return strings.Join(out, " ")
}

// foreignOrders finds orders to a model in the languages other than English, in a text that
// holds words.
func foreignOrders(s string, words present) []Hit {
	var out []Hit
	for i, f := range foreign() {
		if !words.eachOf(words.of.disregards[i]) && !words.eachOf(words.of.silences[i]) {
			continue
		}
		for _, m := range f.order.FindAllStringIndex(s, MaxHits) {
			if someRules.MatchString(s[m[0]:m[1]]) {
				continue
			}
			out = append(out, Hit{Rule: Poisoning, Offset: m[0], End: m[1], Text: Printable(s[m[0]:m[1]], 120)})
		}
	}
	return out
}

// someRules are rules that a Chinese sentence tells from the others: those that are switched off.
var someRules = regexp.MustCompile(`\A(?:[^之以先]|[之以先][^前上])*(?:所有|全部)[^，。；、之以先的]{2,8}的(?:规则|说明|要求)\z`)

// foreignWords are the words in ASCII without which no foreign order in ASCII is one.
var foreignWords = sync.OnceValue(func() [][]byte { return words(foreignSigns()) })
