// Package tui shows sessions and runs in a terminal: a log's frames with requests paired with
// answers, the findings of a run with their evidence, and what happened when.
//
// A Model is a function of the messages that it gets and of the files that it shows; all
// waiting and all long work is in commands. The package must never write to a file that it
// shows, never print a text of a server unescaped, and never hold a whole log in memory.
//
// It does without lipgloss, and without bubbles, which imports it: lipgloss runs "tmux info"
// while its package is initialised, which each command of coalmine, and the agent in the
// sandbox, would then do.
package tui
