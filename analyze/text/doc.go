// Package text finds what a human reader of a text would not see or would not
// want a model to obey: hidden characters and instructions behind the user's back.
//
// It must never print what it found unescaped, nor judge who wrote it.
package text
