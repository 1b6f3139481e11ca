package schema

import (
	"slices"
	"strings"
)

// pixel is a PNG of one pixel, and gradient one of two.
const (
	pixel    = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	dataURLs = "data:image/png;base64,"
)

// grammar is a kind of text that a server checks by a sum or a grammar: words at random are
// refused. The values are public examples of the standards that define them.
type grammar struct {
	kind kind
	// names are phrases of a property's name, said what a description says plainly.
	names, said []string
	values      []string
}

var grammars = []grammar{
	{kIBAN, []string{"iban"}, []string{"iban"}, []string{"GB82WEST12345698765432", "DE89370400440532013000"}},
	{kBitcoin, []string{"bitcoin address", "btc address"}, []string{"bitcoin address", "bc1"}, []string{"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"}},
	{kEthereum, []string{"ethereum address", "eth address", "wallet address", "wallet", "contract address"}, []string{"ethereum address", "evm address", "wallet address"}, []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"}},
	{kBIC, []string{"bic", "swift", "swift code", "bic code"}, []string{"swift code"}, []string{"DEUTDEFF", "NWBKGB2L"}},
	{kISBN, []string{"isbn", "isbn10", "isbn13"}, []string{"isbn"}, []string{"9780306406157", "0306406152"}},
	{kCard, []string{"card number", "credit card", "luhn", "pan"}, []string{"luhn", "credit card number"}, []string{"4111111111111111", "5555555555554444"}},
	{kVIN, []string{"vin"}, []string{"vehicle identification"}, []string{"1M8GDM9AXKP042788", "11111111111111111"}},
	{kFEN, []string{"fen"}, []string{"forsyth", "fen string", "fen notation"}, []string{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"}},
	{kPGN, []string{"pgn"}, []string{"pgn"}, []string{"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6"}},
	{kRRULE, []string{"rrule", "recurrence", "recurrence rule"}, []string{"rrule", "rfc 5545"}, []string{"FREQ=WEEKLY;BYDAY=MO;COUNT=4", "FREQ=DAILY;COUNT=2"}},
	{kGeoJSON, []string{"geojson", "geo json"}, []string{"geojson"}, []string{`{"type":"Point","coordinates":[-0.12,51.5]}`, `{"type":"FeatureCollection","features":[]}`}},
	{kWKT, []string{"wkt"}, []string{"well-known text"}, []string{"POINT (-0.12 51.5)"}},
	{kCURL, []string{"curl", "curl command"}, []string{"curl command"}, []string{"curl -X GET https://www.example.com/"}},
	{kJQL, []string{"jql"}, []string{"jql"}, []string{"project = DEMO ORDER BY created DESC", "status = Open"}},
	{kCypher, []string{"cypher", "cypher query"}, []string{"cypher"}, []string{"MATCH (n) RETURN n LIMIT 1"}},
	{kGraphQL, []string{"graphql", "gql", "graphql query"}, []string{"graphql query", "graphql document"}, []string{"{ __typename }", "query { __typename }"}},
	{kPromQL, []string{"promql"}, []string{"promql"}, []string{"up", "rate(up[5m])"}},
	{kJSONPath, []string{"jsonpath", "json path"}, []string{"jsonpath"}, []string{"$.name", "$"}},
	{kJQ, []string{"jq", "jq filter", "jq expression"}, []string{"jq filter", "jq expression", "jq query"}, []string{".", ".name"}},
	{kXPath, []string{"xpath"}, []string{"xpath"}, []string{"//h1", "//body"}},
	{kSelector, []string{"selector", "css selector"}, []string{"css selector"}, []string{"body", "h1", "p"}},
	{kHash, []string{"hash", "sha256", "checksum", "digest", "sha 256"}, []string{"sha-256", "sha256"},
		[]string{"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", "5d41402abc4b2a76b9719d911017c592"}},
	{kPhone, []string{"phone", "phone number", "telephone", "mobile", "msisdn"}, []string{"phone number", "e.164"}, []string{"+442079460958", "+12025550143"}},
	{kMAC, []string{"mac", "mac address"}, []string{"mac address"}, []string{"00:00:5e:00:53:01"}},
	{kSymbol, []string{"ticker", "stock symbol", "symbol", "ticker symbol"}, []string{"ticker", "stock symbol"}, []string{"AAPL", "MSFT"}},
	{kISIN, []string{"isin"}, []string{"isin"}, []string{"US0378331005"}},
	{kZip, []string{"zip", "zip code", "postal code", "postcode"}, []string{"postal code", "zip code"}, []string{"10001", "90210"}},
	{kCVE, []string{"cve", "cve id"}, []string{"cve-"}, []string{"CVE-2021-44228"}},
	{kDOI, []string{"doi"}, []string{"doi"}, []string{"10.1000/182"}},
	{kArxiv, []string{"arxiv id", "paper id"}, []string{"arxiv id", "arxiv paper"}, []string{"1706.03762"}},
	{kCell, []string{"cell", "start cell", "end cell", "target cell", "cell reference"}, []string{"cell reference", "e.g. a1", "cell address", "top-left cell", "anchor cell"}, []string{"A1", "B2"}},
	{kCells, []string{"cell range", "data range", "range address"}, []string{"a1:", "cell range"}, []string{"A1:B3", "A1:A1"}},
	{kSheet, []string{"sheet", "sheet name", "worksheet", "worksheet name"}, []string{"name of the sheet", "worksheet name"}, []string{"Sheet1"}},
	{kDataURL, []string{"data uri", "data url", "image data", "image base64", "base64 image"}, []string{"base64-encoded image", "base64 encoded image"}, []string{pixel, dataURLs + pixel}},
	{kCurrency, []string{"currency code", "base currency", "target currency", "from currency", "to currency", "quote currency"}, []string{"iso 4217", "currency code"}, nil},
	{kCountry, []string{"country code"}, []string{"iso 3166", "country code"}, nil},
	{kLanguage, []string{"target language", "source language", "target lang", "source lang"}, []string{"iso 639", "bcp 47", "language code"}, nil},
	{kHTTPMethod, []string{"http method", "method"}, []string{"http method"}, []string{"GET", "POST"}},
	{kPort, nil, []string{"port number"}, nil},
	{kCron, []string{"cron expression"}, []string{"cron expression", "crontab"}, nil},
	{kVersion, nil, []string{"semver", "semantic version"}, nil},
	{kColor, nil, []string{"hex color", "hex colour", "css color"}, nil},
}

// grammarRules are the rules of all grammars, before those of plainer kinds.
func grammarRules() []rule {
	var out []rule
	for _, g := range grammars {
		if len(g.names) > 0 {
			out = append(out, rule{g.kind, g.names})
		}
	}
	return out
}

// grammarOf is the grammar that a description names, kNone for none. It counts only
// where the name says nothing, or no more than that it is some text.
func grammarOf(desc string) kind {
	for _, g := range grammars {
		for _, s := range g.said {
			if containsWords(desc, s) {
				return g.kind
			}
		}
	}
	return kNone
}

// containsWords says that a text has a phrase that is no part of longer words.
func containsWords(text, phrase string) bool {
	for rest := text; ; {
		i := strings.Index(rest, phrase)
		if i < 0 {
			return false
		}
		before, after := i == 0 || !letter(rest[i-1]), i+len(phrase) == len(rest) || !letter(rest[i+len(phrase)]) || !letter(phrase[len(phrase)-1])
		if before && after {
			return true
		}
		rest = rest[i+len(phrase):]
	}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// chainOf is the kind of the addresses of the chain that a text speaks of, kNone for none.
func chainOf(text string) kind {
	switch {
	case slices.ContainsFunc([]string{"bitcoin", "btc", "bc1", "segwit", "bech32"}, func(w string) bool { return strings.Contains(text, w) }):
		return kBitcoin
	case slices.ContainsFunc([]string{"ethereum", "0x", "erc20", "erc-20", "evm ", "wallet", "ether "}, func(w string) bool { return strings.Contains(text, w) }):
		return kEthereum
	}
	return kNone
}

// anyText are the kinds whose names say no more than that a value is a text.
var anyText = []kind{kNone, kProse, kQuery, kName, kID, kCode, kMath, kTag, kKey, kBase64, kJSON, kImage}

// pictureWords are by which a description of digits of base64 says that they are a picture.
var pictureWords = []string{"image", "picture", "photo", "png", "screenshot", "bitmap"}

// withGrammar refines a kind by what the description, or the tool's name, says.
func withGrammar(m *meaning, tool []string, desc string) {
	if slices.Contains(anyText, m.kind) {
		if k := grammarOf(desc); k != kNone && (m.kind != kImage || k == kDataURL) {
			m.kind = k
			return
		}
		if containsWords(desc, "base64") && slices.ContainsFunc(pictureWords, func(w string) bool { return containsWords(desc, w) }) {
			m.kind = kDataURL
			return
		}
	}
	lowered := strings.Join(tool, " ")
	switch m.kind {
	case kCity:
		if k := chainOf(desc + " " + lowered); k != kNone && any2(m.words, "address") {
			m.kind = k
		}
	case kQuery, kProse, kCode, kNone:
		for _, of := range []struct {
			word string
			kind kind
		}{{"sql", kSQL}, {"cypher", kCypher}, {"graphql", kGraphQL}, {"jql", kJQL}, {"promql", kPromQL}, {"jsonpath", kJSONPath}, {"jq", kJQ}, {"xpath", kXPath}} {
			input := any2(m.words, "query", "statement", "expression", "filter", "input", "command", "code")
			if input && (any2(tool, of.word) || containsWords(desc, of.word)) {
				m.kind = of.kind
				return
			}
		}
		if m.kind == kQuery && (containsWords(desc, "select") || containsWords(desc, "insert") || containsWords(desc, "create table")) {
			m.kind = kSQL
		}
	case kKey:
		keyboard := any2(tool, "press", "key", "keyboard", "hotkey", "shortcut", "keystroke", "type", "hold") || strings.Contains(desc, "keyboard") || strings.Contains(desc, "press")
		if !keyboard && !any2(m.words, "shortcut") {
			m.kind = kName
		}
	case kBase64:
		if strings.Contains(lowered, "image") || strings.Contains(desc, "image") || any2(m.words, "image", "picture", "photo") {
			m.kind = kDataURL
		}
	case kSymbol:
		if any2(tool, "code", "definition", "reference", "rename", "lsp", "symbol") || strings.Contains(desc, "function") || strings.Contains(desc, "class") {
			m.kind = kName
		}
	case kSheet:
		made := any2(tool, "create", "add", "new") && any2(tool, "sheet", "worksheet")
		if made || any2(m.words, "dst", "destination", "new", "target") {
			m.kind = kNewName
		}
	case kHTTPMethod:
		if !strings.Contains(desc, "http") && !any2(tool, "http", "request", "fetch", "api") {
			m.kind = kName
		}
	}
}
