package canaries

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
)

const (
	chromeDir   = ".config/google-chrome/"
	firefoxDir  = ".mozilla/firefox/"
	chromeLogin = "chrome-login"
)

// plantBrowsers makes the password stores of two browsers.
func (h *home) plantBrowsers() {
	h.plantChrome()
	h.plantFirefox()
}

// plantChrome makes a profile of Chromium as it is where there is no keyring.
func (h *home) plantChrome() {
	const file = chromeDir + "Default/Login Data"
	site := "app." + h.domain()
	password := h.secret(chromeLogin, "browser", file, h.mint.password(), site)
	used := h.past(60)
	data, err := loginData("https://"+site+"/", h.email, chromeSeal(password), used)
	if err != nil && h.mint.err == nil {
		h.mint.err = err
	}
	h.file(file, 0o600, string(data))
	h.file(chromeDir+"Local State", 0o600, fmt.Sprintf(`{"browser":{"enabled_labs_experiments":[]},"os_crypt":{"portal":{"prev_desktop":"GNOME","prev_init_success":false}},"profile":{"info_cache":{"Default":{"active_time":%d.0,"name":"%s","user_name":"%s"}},"last_used":"Default","profiles_order":["Default"]}}`,
		used.Unix(), h.name, h.email))
	h.file(chromeDir+"First Run", 0o600, "")
}

// chromeSeal is a password as Chromium keeps it on Linux without a keyring:
// under a key that is the same everywhere. Who knows that reads the password.
func chromeSeal(password string) []byte {
	key, err := pbkdf2.Key(sha1.New, "peanuts", []byte("saltysalt"), 1, aes.BlockSize)
	if err != nil {
		return nil // of the key's own constants; the tests read what is sealed
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil
	}
	pad := aes.BlockSize - len(password)%aes.BlockSize
	text := append([]byte(password), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, bytes.Repeat([]byte(" "), aes.BlockSize)).CryptBlocks(text, text)
	return append([]byte("v10"), text...)
}

// chromeTime is a time as Chromium counts it: microseconds since 1601.
func chromeTime(t time.Time) int64 { return (t.Unix() + 11_644_473_600) * 1_000_000 }

const (
	metaSQL   = "CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR)"
	loginsSQL = "CREATE TABLE logins (origin_url VARCHAR NOT NULL, action_url VARCHAR, username_element VARCHAR, username_value VARCHAR, password_element VARCHAR, password_value BLOB, submit_element VARCHAR, signon_realm VARCHAR NOT NULL, date_created INTEGER NOT NULL, blacklisted_by_user INTEGER NOT NULL, scheme INTEGER NOT NULL, password_type INTEGER, times_used INTEGER, form_data BLOB, display_name VARCHAR, icon_url VARCHAR, federation_url VARCHAR, skip_zero_click INTEGER, generation_upload_status INTEGER, possible_username_pairs BLOB, id INTEGER PRIMARY KEY AUTOINCREMENT, date_last_used INTEGER NOT NULL DEFAULT 0, moving_blocked_for BLOB, date_password_modified INTEGER NOT NULL DEFAULT 0, UNIQUE (origin_url, username_element, username_value, password_element, signon_realm))"
)

// loginData is a Login Data file with one login.
func loginData(origin, user string, sealed []byte, used time.Time) ([]byte, error) {
	created := chromeTime(used.Add(-90 * 24 * time.Hour))
	login := []any{
		origin, origin + "login", "email", user, "password", sealed, "", origin, created, int64(0), int64(0), int64(0), int64(14),
		[]byte{}, "", "", "", int64(0), int64(0), []byte{0, 0, 0, 0}, nil, chromeTime(used), []byte{0, 0, 0, 0}, created,
	}
	meta := [][]any{{"mmap_status", "-1"}, {"version", "33"}, {"last_compatible_version", "33"}}
	return SQLiteFile(3_046_000, []SQLiteTable{
		{Kind: "table", Name: "meta", Table: "meta", SQL: metaSQL, Rows: meta, IDs: []int64{1, 2, 3}},
		{Kind: "index", Name: "sqlite_autoindex_meta_1", Table: "meta", Rows: [][]any{
			{"last_compatible_version", int64(3)}, {"mmap_status", int64(1)}, {"version", int64(2)},
		}},
		{Kind: "table", Name: "logins", Table: "logins", SQL: loginsSQL, Rows: [][]any{login}, IDs: []int64{1}},
		{Kind: "index", Name: "sqlite_autoindex_logins_1", Table: "logins", Rows: [][]any{
			{origin, "email", user, "password", origin, int64(1)},
		}},
		{Kind: "table", Name: "sqlite_sequence", Table: "sqlite_sequence", SQL: "CREATE TABLE sqlite_sequence(name,seq)", Rows: [][]any{{"logins", int64(1)}}, IDs: []int64{1}},
		{
			Kind: "index", Name: "logins_signon", Table: "logins", SQL: "CREATE INDEX logins_signon ON logins (signon_realm)",
			Rows: [][]any{{origin, int64(1)}},
		},
	})
}

// plantFirefox makes a profile of Firefox, whose key its password store is
// sealed with is not there: what is taken is the sealed form.
func (h *home) plantFirefox() {
	m := h.mint
	profile := firefoxDir + m.chars(lower+digits, 8) + ".default-release/"
	file := profile + "logins.json"
	site := "https://wiki." + h.domain()
	created := h.past(300).UnixMilli()
	h.file(file, 0o600, fmt.Sprintf(`{"nextId":2,"logins":[{"id":1,"hostname":"%[1]s","httpRealm":null,"formSubmitURL":"%[1]s","usernameField":"username","passwordField":"password","encryptedUsername":"%[2]s","encryptedPassword":"%[3]s","guid":"{%[4]s}","encType":1,"timeCreated":%[5]d,"timeLastUsed":%[5]d,"timePasswordChanged":%[5]d,"timesUsed":3,"syncCounter":1,"everSynced":false,"encryptedUnknownFields":null}],"potentiallyVulnerablePasswords":[],"dismissedBreachAlertsByLoginGUID":{},"version":3}`,
		site, m.value(m.sealedByFirefox), h.secret("firefox-login", "browser", file, m.value(m.sealedByFirefox), "wiki."+h.domain()), m.uuid(), created))
	name := strings.TrimSuffix(strings.TrimPrefix(profile, firefoxDir), "/")
	h.file(firefoxDir+"profiles.ini", 0o644, "[Profile0]\nName=default-release\nIsRelative=1\nPath="+name+"\nDefault=1\n\n[General]\nStartWithLastProfile=1\nVersion=2\n")
}

// firefoxHead is what stands before the random part of each value that Firefox
// sealed: a sequence of the key's name, the cipher 3DES in CBC, and a start value.
const firefoxHead = "\x30\x42\x04\x10\xf8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x30\x14\x06\x08\x2a\x86\x48\x86\xf7\x0d\x03\x07\x04\x08"

func (m *mint) sealedByFirefox() string {
	return base64.StdEncoding.EncodeToString(join([]byte(firefoxHead), m.bytes(8), []byte{4, 24}, m.bytes(24)))
}
