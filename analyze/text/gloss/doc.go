// Package gloss turns technical descriptions in other languages into rough English, word by word, so
// that what a tool declares is understood whatever language it is written in.
//
// Its glossaries (words/*.tsv) were written for this. It must never be shown to a person or a model in
// place of the text itself: it is no translation, and what it does not know it leaves as it stands.
// All functions may be called concurrently.
package gloss
