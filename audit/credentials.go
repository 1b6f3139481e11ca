package audit

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var (
	// reference is a value that a client or a program replaces by another.
	reference = lazyregexp.New(`\$|^%\w+%$|^\{.*\}$|^(?:op|env|file|keychain|vault):|^!\w`)
	// amount is a number that counts something.
	amount = lazyregexp.New(`^\d{1,9}$`)
	// elided is a sample of which the secret part is left out.
	elided = lazyregexp.New(`\.{3}|…|(?i:x{4})|\*{3}`)
	// scheme begins the value of a header: https://datatracker.ietf.org/doc/html/rfc9110#section-11.
	scheme = lazyregexp.New(`(?i)^(?:bearer|basic|token|apikey|api-key|bot|key)\s+`)
	// credentialHeader is the name of a header that holds a credential.
	credentialHeader = lazyregexp.New(`(?i)^(?:proxy-)?authorization$|^cookie$|^(?:x-)?auth$`)
	// shortSecret is the name of an option or of a parameter that holds a secret where its value looks like one.
	shortSecret = lazyregexp.New(`(?i)^(?:key|auth|pass|pwd|sig|signature|bearer)$`)
	// mixed is a value that no person chose as a word.
	mixed = lazyregexp.New(`^[\w+/=.~-]*\d[\w+/=.~-]*$`)
	// humped is where a word begins in a name such as accessToken.
	humped = lazyregexp.New(`([a-z0-9])([A-Z])`)
	// userPassword are the name and the password in an address.
	userPassword = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*://([^/?#@:\s]*)(?::([^/?#\s]*))?@`)
)

// maxArguments bounds the arguments and variables of a server that are looked at.
const maxArguments = 200

// credentials are the places of a server's entry where a secret stands by its value: of each
// kind in the order of the entry or of the names. No part of a value is in them.
func credentials(s *Server) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if holdsSecret(name, s.Env[name]) {
			out = append(out, shown(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		if headerHolds(name, s.Headers[name]) {
			out = append(out, "the header "+shown(name))
		}
	}
	out = append(out, addressCredentials(s.URL)...)
	if len(s.Command) > 1 {
		out = append(out, argumentCredentials(s.Command[1:])...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(place string) bool {
		again := seen[place]
		seen[place] = true
		return again
	})
}

// headerHolds reports whether a header is given a secret by name and value.
func headerHolds(name, value string) bool {
	value = strings.TrimSpace(value)
	bare := scheme.ReplaceAllString(value, "")
	return (credentialHeader.MatchString(name) || secretName.MatchString(snake(name))) && isSecret(bare)
}

// isSecret reports whether a value stands for itself, and not for another or for a sample.
func isSecret(value string) bool {
	return len(value) >= 6 && !placeholder.MatchString(value) && !reference.MatchString(value) && !amount.MatchString(value) && !elided.MatchString(value)
}

// snake is a name in the form of variables: access_Token for accessToken, X_API_Key for X-API-Key.
func snake(name string) string {
	return humped.ReplaceAllString(strings.NewReplacer("-", "_", ".", "_").Replace(name), "${1}_$2")
}

// parameterHolds reports whether an option or a parameter is given a secret by name and value.
func parameterHolds(name, value string) bool {
	if secretName.MatchString(snake(name)) {
		return isSecret(value)
	}
	return shortSecret.MatchString(name) && len(value) >= 16 && mixed.MatchString(value) && isSecret(value)
}

// addressCredentials are the places of secrets in an address: before its host, and in its query.
func addressCredentials(address string) (out []string) {
	if m := userPassword.FindStringSubmatch(address); m != nil {
		switch {
		case isSecret(unescaped(m[2])):
			out = append(out, "the password in an address")
		case m[2] == "" && len(m[1]) >= 16 && mixed.MatchString(m[1]) && isSecret(unescaped(m[1])):
			out = append(out, "the user in an address")
		}
	}
	if !strings.Contains(address, "://") {
		return out
	}
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if parameterHolds(unescaped(name), unescaped(value)) {
			out = append(out, "the parameter "+shown(unescaped(name))+" of an address")
		}
	}
	return out
}

// unescaped is a part of an address without its escapes, or as it stands.
func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// argumentCredentials are the places of secrets among the arguments of a program: --token=…, --token …,
// --header "Authorization: …", -e TOKEN=… and addresses.
func argumentCredentials(args []string) (out []string) {
	args = args[:min(len(args), maxArguments)]
	for i, arg := range args {
		if strings.Contains(arg, "://") {
			_, address, isValue := strings.Cut(arg, "=")
			if !isValue || !strings.HasPrefix(arg, "-") {
				address = arg
			}
			out = append(out, addressCredentials(address)...)
			continue
		}
		name, value, isPair := strings.Cut(arg, "=")
		option := strings.TrimLeft(name, "-")
		header, text, isHeader := strings.Cut(arg, ":")
		switch {
		case isPair && parameterHolds(option, value):
			out = append(out, "the argument "+shown(name))
		case isHeader && headerHolds(strings.TrimSpace(header), text):
			out = append(out, "the header "+shown(strings.TrimSpace(header)))
		case !isPair && option != name && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.Contains(args[i+1], "=") && parameterHolds(option, args[i+1]):
			out = append(out, "the argument "+shown(name))
		}
	}
	return out
}
