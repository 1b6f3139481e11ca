package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// typical is what a tool's only argument is first given.
func typicalOf(t *testing.T, tool, name, desc string) string {
	t.Helper()
	doc := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q]}`, name, desc, name)
	g, err := New(json.RawMessage(doc), Options{Tool: tool, Object: true})
	if err != nil {
		t.Fatal(err)
	}
	args, err := g.Draw(7, TypicalRequired)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(args, &got); err != nil {
		t.Fatal(err)
	}
	return got[name]
}

func TestStructuredValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, name, desc, want string }{
		{"validate_iban", "iban", "", "GB82WEST12345698765432"},
		{"check", "value", "The IBAN to check", "GB82WEST12345698765432"},
		{"pay", "address", "Address of the payee, bc1q…", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		{"eth_balance", "address", "0x-prefixed", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"},
		{"weather", "address", "", "London"},
		{"lookup", "isbn", "", "9780306406157"},
		{"convert", "currency_code", "", "USD"},
		{"convert", "from", "ISO 4217 currency code", "USD"},
		{"holidays", "country_code", "", "US"},
		{"analyse", "fen", "", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"},
		{"search_issues", "jql", "", "project = DEMO ORDER BY created DESC"},
		{"read_query", "query", "SELECT SQL query to execute", "SELECT 1"},
		{"create_table", "query", "CREATE TABLE SQL statement", "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)"},
		{"write_query", "query", "SQL query to execute", "INSERT INTO items (name) VALUES ('lamp')"},
		{"press_key", "key", "", "Enter"},
		{"set_value", "key", "The key to store under", "alpha"},
		{"write_data", "sheet_name", "", "Sheet1"},
		{"write_data", "start_cell", "", "A1"},
		{"resize_image", "image", "Base64-encoded image", pixel},
		{"image_size", "image", "A PNG image, base64.", pixel},
		{"scan", "data", "The photo as base64", pixel},
		{"echo", "text", "", sentences[0]},
	} {
		if got := typicalOf(t, c.tool, c.name, c.desc); got != c.want {
			t.Errorf("%s of %s (%s): %q, want %q", c.name, c.tool, c.desc, got, c.want)
		}
	}
}

// What is checked by a sum has the right one.
func TestSums(t *testing.T) {
	t.Parallel()
	for _, card := range kindValues[kCard] {
		sum := 0
		for i := range card {
			d := int(card[len(card)-1-i] - '0')
			if i%2 == 1 {
				if d *= 2; d > 9 {
					d -= 9
				}
			}
			sum += d
		}
		if sum%10 != 0 {
			t.Errorf("card %s", card)
		}
	}
	for _, iban := range kindValues[kIBAN] {
		digits := ""
		for _, r := range iban[4:] + iban[:4] {
			if r >= 'A' {
				digits += fmt.Sprint(int(r - 'A' + 10))
				continue
			}
			digits += string(r)
		}
		n, _ := new(big.Int).SetString(digits, 10)
		if new(big.Int).Mod(n, big.NewInt(97)).Int64() != 1 {
			t.Errorf("IBAN %s", iban)
		}
	}
	for _, vin := range kindValues[kVIN] {
		const values, weights = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ", "8765432X098765432"
		sum := 0
		for i := range vin {
			v, w := strings.IndexByte(values, vin[i])%10, strings.IndexByte("0123456789X", weights[i])
			sum += v * w
		}
		if "0123456789X"[sum%11] != vin[8] {
			t.Errorf("VIN %s", vin)
		}
	}
}
