package oracle

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// jwtForm is a signed JSON Web Token in compact form (RFC 7519, section 3).
var jwtForm = lazyregexp.New(`^[\w-]{8,}\.[\w-]{2,}\.[\w-]{8,}$`)

// leastSignature is how many characters of a text are a signature at least.
const leastSignature = 16

// JWT is a token that a key signs with HS256, which does not expire.
func JWT(key string) string {
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"ana","iat":1767225600,"exp":4102444800}`))
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Signatures are a signed text as it is, one that nobody could take for it, and forms of it that are not signed. Only
// whoever does not check the signature (CWE-347) answers one of the last as it answers the first. A text is a token that
// holds its signature at its end, or a signature alone.
func Signatures(signed string) []Input {
	if len(signed) < leastSignature {
		return nil
	}
	from := strings.LastIndexAny(signed, ".:$|") + 1
	head, signature := signed[:from], signed[from:]
	if len(signature) < leastSignature {
		head, signature = "", signed
	}
	middle := len(signature) / 2
	altered := signature[:middle] + string(otherDigit(signature[middle])) + signature[middle+1:]
	of := func(context, text string) Input {
		return Input{Text: text, Injection: session.Injection{Oracle: session.OracleSignature, Context: context}}
	}
	out := []Input{of(session.SignatureGenuine, signed), of(session.SignatureNone, strings.Repeat("unsigned", 4)),
		of("altered signature", head+altered), of("signature of four characters", head+signature[:4])}
	if head == "" {
		return append(out, of("empty signature", ""))
	}
	out = append(out, of("no signature", head))
	if jwtForm.MatchString(signed) {
		_, payload, _ := strings.Cut(strings.TrimSuffix(head, "."), ".")
		out = append(out, of("algorithm none", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))+"."+payload+"."))
	}
	return out
}

// otherDigit is another character of the same alphabet: of hexadecimal digits and base 64 alike.
func otherDigit(c byte) byte {
	if c == '7' {
		return '3'
	}
	return '7'
}
