package analyze

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// grammar is a language of queries, by the words in which its engines refuse what does not parse.
type grammar struct {
	language string
	refuses  *lazyregexp.Regexp
}

// grammars are the languages whose errors are known: those of SQLite, PostgreSQL, MySQL, SQL Server and Oracle; of
// ElementTree, lxml, libxml2 and the XPath modules of Node.js; of LDAP's filters (RFC 4515), MongoDB, Neo4j and GraphQL.
var grammars = []grammar{
	{"SQL", lazyregexp.New(`(?i)near "[^"\n]{0,80}": syntax error|unrecognized token: "|syntax error at or near|unterminated quoted (?:string|identifier)|you have an error in your SQL syntax|unclosed quotation mark after|incorrect syntax near|\bORA-0(?:0911|0923|0933|1756)\b`)},
	{"XPath", lazyregexp.New(`(?i)\binvalid predicate\b|XPath\w*(?:Error|Exception)\b|\bxmlXPath\w+|\binvalid XPath\b|XPath syntax error|XPath parse error`)},
	{"LDAP", lazyregexp.New(`(?i)\bbad search filter\b|(?:invalid|malformed) (?:LDAP )?filter\b|LDAPInvalidFilterError|unmatched parenthes\w+ in filter`)},
	{"MongoDB", lazyregexp.New(`(?i)unknown (?:top level )?operator: \$`)},
	{"Cypher", lazyregexp.New(`Neo\.ClientError\.Statement\.SyntaxError`)},
	{"GraphQL", lazyregexp.New(`GRAPHQL_PARSE_FAILED|GraphQLError: Syntax Error|Syntax Error: Unterminated string`)},
}

// ownGrammar is a query that a tool takes from its caller as such: SQLite's full-text search.
var ownGrammar = lazyregexp.New(`(?i)\bfts\d?\b|malformed MATCH`)

// maxErrorText bounds the text of an error that is kept.
const maxErrorText = 300

// queryErrors notes which of a call's errors are an engine's refusal of a query that did not parse, with the argument
// that held a quote.
func (w *wireReader) queryErrors(seq uint64, tool string, call int, said []string) {
	if len(w.facts.QueryErrors) >= maxFacts {
		return
	}
	for _, text := range said {
		i := slices.IndexFunc(grammars, func(g grammar) bool { return g.refuses.MatchString(text) })
		if i < 0 || ownGrammar.MatchString(text) {
			continue
		}
		language, argument := grammars[i].language, quotedArgument(w.args.of[call])
		if !slices.ContainsFunc(w.facts.QueryErrors, func(o rules.QueryError) bool {
			return o.Tool == tool && o.Language == language && o.Argument == argument
		}) {
			w.facts.QueryErrors = append(w.facts.QueryErrors, rules.QueryError{Fact: w.fact(seq, clip(text, maxErrorText)), Language: language, Argument: argument})
		}
		return
	}
}

// quotedArgument is the name of the first argument that holds a quote, "" for none.
func quotedArgument(args json.RawMessage) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return ""
	}
	best := ""
	for name, raw := range given {
		var text string
		if json.Unmarshal(raw, &text) == nil && strings.ContainsAny(text, `'"`) && (best == "" || name < best) {
			best = name
		}
	}
	return best
}
