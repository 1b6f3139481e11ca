// Package spy shows and records the MCP conversations that sandbox/spy collects: lines for
// a console, records for programs, and a session log for each conversation, judged live
// on request. On request it also shows and judges what the servers do beside talking.
//
// It must never open a file because a server did, never show a secret on a terminal unless
// it was told to, never record what the filters leave out, and never say that all was seen
// where something was lost.
package spy
