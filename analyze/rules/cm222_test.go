package rules

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// deleting is a run in which one call of a tool, with some arguments, took away files that stood there.
func deleting(text, arguments string, gone ...string) *Run {
	tool := described("remove_note", text)
	var done []finding.Effect
	for _, p := range gone {
		done = append(done, effect(tool.Name, finding.FileDelete, p))
	}
	return args(stood(newRun(tool, done...), append(gone, "/data/shelf/kept.txt")...), arguments)
}

// madeFirst is a run in which call 1 of save_draft made a file by its name, and call 2 of a tool deleted it.
func madeFirst(by wire.Tool, made, gone, arguments string) *Run {
	save := described("save_draft", "Saves a draft.")
	r := newRun(save, effect(save.Name, finding.FileWrite, made), inCall(2, effect(by.Name, finding.FileDelete, gone)))
	r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: 2, Tool: by.Name, What: "tool", Outcome: "ok"})
	r.Args[1], r.Args[2] = json.RawMessage(`{"title":"Garden plan"}`), json.RawMessage(arguments)
	return with(r, beside(by))
}

// keepsAll is a tool that declares to destroy nothing.
func keepsAll(text string) wire.Tool {
	return wire.Tool{Name: "save_other", Description: text, Annotations: &wire.Annotations{Destructive: boolean(false)}}
}

const (
	oneNote  = "Removes the one note at a path, and no other."
	plainly  = "Removes by its path."
	shelf    = "/data/shelf/"
	byPath   = `{"path":"shelf/old-notes.txt"}`
	byNumber = `{"id":7}`
)

var ofDeletions = []ruleCase{
	{"CM222", "two more, against a promise", deleting(oneNote, byPath, shelf+"old-notes.txt", shelf+"tasks.md", shelf+"notes.txt"), finding.High},
	{"CM222", "one more of another kind, against a promise", deleting(oneNote, byPath, shelf+"old-notes.txt", shelf+"photo.png"), finding.High},
	{"CM222", "a note, in the singular", deleting("Deletes a note by its path.", byPath, shelf+"old-notes.txt", shelf+"sub/notes.txt"), finding.High},
	{"CM222", "without a promise", deleting(plainly, byPath, shelf+"old-notes.txt", shelf+"notes.txt"), finding.Medium},
	{"CM222", "a note of the notes folder", deleting("Deletes a note from the notes folder.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), finding.High},
	{"CM222", "notes of a folder", deleting("Deletes notes from a folder.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "by a title", deleting("Deletes a card.", `{"title":"Shopping list"}`, shelf+"shopping-list.json", shelf+"books.json"), finding.High},
	{"CM222", "by a number", deleting("Deletes a card.", byNumber, shelf+"card-007.json", shelf+"card-008.json"), finding.High},
	{"CM222", "the named one stays", deleting("Moves a note to another folder.", `{"path":"shelf/kept.txt","to":"/data/x"}`, shelf+"notes.txt"), finding.High},
	{"CM222", "the others stay, it says", deleting("Deletes by path; the other notes stay as they are.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), finding.High},
	{"CM222", "another is emptied", with(deleting(oneNote, byPath, shelf+"old-notes.txt"), func(r *Run) {
		r.Profile.Effects = append(r.Profile.Effects, effect("remove_note", finding.FileWrite, shelf+"kept.txt"))
		r.Profile.Differences = map[string]session.EventChanged{shelf + "kept.txt": {Before: session.FileState{Kind: "file", Size: 9}, After: session.FileState{Kind: "file"}}}
	}), finding.High},
	{"CM222", "another call's, perhaps", with(deleting(oneNote, byPath, shelf+"old-notes.txt", shelf+"notes.txt"), func(r *Run) { r.Profile.Effects[1].Ambiguous = true }), finding.Low},
	{"CM222", "what another call made by name", madeFirst(wire.Tool{Name: "remove_note", Description: "Deletes a note."}, shelf+"garden-plan.md", shelf+"garden-plan.md", `{"title":"garden plan"}`), ""},
	{"CM222", "made by name, lost without a word", madeFirst(keepsAll("Saves another draft."), shelf+"garden-plan.md", shelf+"garden-plan.md", `{"title":"Other"}`), finding.Medium},
	{"CM222", "made by name, beyond what is kept", madeFirst(keepsAll("Saves another draft and keeps the last ten."), shelf+"garden-plan.md", shelf+"garden-plan.md", `{"title":"Other"}`), ""},
	{"CM222", "replaced by the same name", madeFirst(keepsAll("Saves another draft."), shelf+"garden-plan.md", shelf+"garden-plan.md", `{"title":"Garden plan"}`), ""},
	{"CM222", "only the named one", deleting(oneNote, byPath, shelf+"old-notes.txt"), ""},
	{"CM222", "what goes with it", deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+"old-notes.meta.json", shelf+"old-notes-1.txt", shelf+"old-notes.assets/a.txt"), ""},
	{"CM222", "all of them", deleting("Deletes all notes.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "older ones", deleting("Deletes a note and notes older than it.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "a list", deleting("Deletes a note.", `{"paths":["shelf/old-notes.txt"]}`, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "a pattern", deleting("Deletes a note.", `{"path":"shelf/*.txt"}`, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "a directory", deleting("Deletes a note.", `{"path":"shelf"}`, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "a limit", deleting("Deletes a note.", `{"path":"shelf/old-notes.txt","keep_days":3}`, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "a switch", deleting("Deletes a note.", `{"path":"shelf/old-notes.txt","recursive":true}`, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
	{"CM222", "its trash and backups", deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+".trash/a.txt", shelf+"backups/b.txt", shelf+"c.txt.bak"), ""},
	{"CM222", "its index", deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+"index.md"), ""},
	{"CM222", "another kind", deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+"photo.png"), ""},
	{"CM222", "elsewhere", deleting("Deletes a note.", byPath, shelf+"old-notes.txt", "/data/else/notes.txt"), ""},
	{"CM222", "numbers move up", with(deleting("Deletes a page.", `{"page":2}`, shelf+"2.md", shelf+"3.md"), func(r *Run) {
		r.Profile.Effects = append(r.Profile.Effects, effect("remove_note", finding.FileWrite, shelf+"2.md"))
	}), ""},
	{"CM222", "its answer names it", with(deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), func(r *Run) {
		r.Profile.Answers = map[int]profile.Answer{1: {Said: "removed old-notes.txt and its copy notes.txt"}}
	}), ""},
	{"CM222", "an attack input", with(deleting("Deletes a note.", byPath, shelf+"old-notes.txt", shelf+"notes.txt"), func(r *Run) {
		r.Profile.Calls[0].Oracles = []session.Injection{{Oracle: session.OraclePath}}
	}), ""},
	{"CM222", "told by CM203", bulk(described("remove_note", "Removes a note"), finding.FileDelete, manyFiles), ""},
	{"CM215", "told by CM222", deleting(oneNote, byPath, shelf+"old-notes.txt", shelf+"notes.txt"), ""},
}
