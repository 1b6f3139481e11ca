package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// keeping is a run in which a call of a tool wrote a file and left it with some text. The call was given "lighthouse".
func keeping(instructions, text, file, now string, change ...func(*profile.Stored)) *Run {
	tool := described("explain", text)
	f := profile.Stored{Path: file, Now: now, Grown: int64(len(now)), Sized: true,
		By: []profile.Writing{{Call: 1, Tool: tool.Name, Phase: finding.PhaseCall, Evidence: finding.Evidence{Source: "record", Seq: 1, Text: "wrote it"}}}}
	if now == theText {
		f.Held = []profile.Held{{Call: 1, Word: "lighthouse"}}
	}
	for _, c := range change {
		c(&f)
	}
	r := newRun(tool)
	r.Surface.Instructions = instructions
	r.Scope = scope.Of(r.Surface)
	r.Profile.Stored = []profile.Stored{f}
	return args(r, `{"text":"the lighthouse at the end of the pier"}`)
}

const (
	theText   = "the lighthouse at the end of the pier\n"
	notStored = "Explains a text. The text is not stored, logged or kept: nothing is written."
	ownCache  = home + "/.cache/notes/seen.txt"
)

// spelling is a run whose calls, each given a text twice as long as the one before, made directories with names of some lengths.
func spelling(text string, lengths ...int) *Run {
	r := newRun(described("explain", text))
	r.Profile.Calls, r.Args = nil, map[int]json.RawMessage{}
	for i, n := range lengths {
		call := i + 1
		r.Profile.Calls = append(r.Profile.Calls, profile.Call{N: call, Tool: "explain"})
		r.Args[call] = json.RawMessage(`{"text":"` + strings.Repeat("the pier and the lighthouse. ", 1<<i) + `"}`)
		r.Profile.Spelled = append(r.Profile.Spelled, profile.Names{Path: home + "/.cache/notes/" + strings.Repeat("ab", n/2), Bytes: n,
			Writing: profile.Writing{Call: call, Tool: "explain", Phase: finding.PhaseCall, Evidence: finding.Evidence{Source: "record", Seq: 1, Text: "made it"}}})
	}
	return r
}

// naming is a run whose calls each left an empty file with a name of some length.
func naming(text string, lengths ...int) *Run {
	r := newRun(described("explain", text))
	for i, n := range lengths {
		r.Profile.Stored = append(r.Profile.Stored, profile.Stored{Path: home + "/.cache/thumbnails/" + strings.Repeat(string(rune('a'+i)), n), Sized: true,
			By: []profile.Writing{{Call: i + 1, Tool: "explain", Phase: finding.PhaseCall, Evidence: finding.Evidence{Source: "record", Seq: 1, Text: "made it"}}}})
	}
	return r
}

var ofStores = []ruleCase{
	{"CM223", "names of empty files", naming("Makes a phrase. It is stored nowhere; no file is read or written.", 30, 36, 33), finding.High},
	{"CM223", "digests as names of empty files", naming(notStored, 64, 64, 64), ""},
	{"CM223", "short names of empty files", naming(notStored, 4, 6, 5), ""},
	{"CM223", "names of empty files, and no promise", naming("Makes a phrase.", 30, 36, 33), ""},
	{"CM223", "names of directories", spelling(notStored, 40, 80, 160), finding.High},
	{"CM223", "digests as names", spelling(notStored, 64, 64, 64), ""},
	{"CM223", "names, and no promise", spelling("Explains a text.", 40, 80, 160), ""},
	{"CM223", "in its cache", keeping("", notStored, ownCache, theText), finding.High},
	{"CM223", "in another place", keeping("", notStored, "/tmp/x", theText), finding.High},
	{"CM223", "the server promises", keeping("Nothing you send is stored.", "Explains a text.", home+"/.local/share/notes/log", theText), finding.High},
	{"CM223", "beside its program", keeping("Texts are never saved to disk.", "Explains a text.", "/srv/notes/seen.txt", theText), finding.High},
	{"CM223", "its size", keeping("", notStored, ownCache, "", func(f *profile.Stored) { f.Grown = 40 }), finding.High},
	{"CM223", "a log of the calls", keeping("", "Explains a text. Keeps no log.", ownCache, "2026-01-01 explain\n"), finding.Medium},
	{"CM223", "small and unread", keeping("", notStored, ownCache, "", func(f *profile.Stored) { f.Grown = 12 }), finding.Medium},
	{"CM223", "another call's, perhaps", keeping("", notStored, ownCache, theText, func(f *profile.Stored) { f.By[0].Ambiguous = true }), finding.Medium},
	{"CM223", "no promise", keeping("", "Explains a text.", ownCache, theText), ""},
	{"CM223", "about credentials", keeping("No credentials are stored.", "Explains a text. Your password is never logged.", ownCache, theText), ""},
	{"CM223", "of another case", keeping("", "Explains a text. It is not saved until you confirm.", ownCache, theText), ""},
	{"CM223", "a tool that saves", keeping("Nothing is logged.", "Explains a text and saves it.", ownCache, theText), ""},
	{"CM223", "a tool that keeps in memory, as it says", keeping("", "Writes a pad. Pads live in memory only: nothing is stored on disk.", ownCache, theText), finding.High},
	{"CM223", "what is there already", keeping("", "Saves a text as the next version. A text that is the same as the last version is not saved again.", ownCache, theText), ""},
	{"CM223", "compiled modules", keeping("", notStored, home+"/lib/__pycache__/x.cpython-311.pyc", ""), ""},
	{"CM223", "a lock", keeping("", notStored, home+"/.cache/notes/x.lock", "1"), ""},
	{"CM223", "an empty file", keeping("", notStored, ownCache, "", func(f *profile.Stored) { f.Grown = 0 }), ""},
	{"CM223", "a library's file", keeping("", notStored, home+"/.cache/fonts/x.json", "{}"), ""},
	{"CM223", "where the call says", args(keeping("", notStored, "/data/out/explained.txt", theText), `{"text":"x","to":"/data/out/explained.txt"}`), ""},
	{"CM223", "at start, as the server promises not to", keeping("Nothing you send is stored.", "Explains a text.", ownCache, "x", func(f *profile.Stored) {
		f.By[0] = profile.Writing{Phase: finding.PhaseList, Evidence: f.By[0].Evidence}
	}), finding.Medium},
	{"CM223", "a temporary file of several calls", keeping("Texts are worked on in memory only.", "Explains a text.", "/var/tmp/x", "", func(f *profile.Stored) {
		f.Grown = 12
		f.By = append(f.By, profile.Writing{Call: 2, Tool: "explain", Phase: finding.PhaseCall, Evidence: f.By[0].Evidence})
	}), finding.Medium},
	{"CM223", "a temporary file of one call", keeping("Texts are worked on in memory only.", "Explains a text.", "/var/tmp/x", ""), ""},
	{"CM223", "at start", keeping("", notStored, ownCache, theText, func(f *profile.Stored) { f.By[0].Call, f.By[0].Phase = 0, finding.PhaseStart }), ""},
	{"CM223", "a value that it declares", with(keeping("", notStored, home+"/.cache/fonts/x.json", theText), func(r *Run) {
		r.Surface.Tools = []wire.Tool{{Name: "explain", Description: notStored, InputSchema: []byte(`{"properties":{"text":{"enum":["lighthouse"]}}}`)}}
	}), ""},
	{"CM223", "a declared cache", keeping("Answers are cached.", "Explains a text. The text is not stored.", ownCache, "{}"), ""},
}

func TestPromisesToKeepNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"The text is not stored": true, "Nothing is sent, stored or logged": true, "Never writes anything": true, "Does not send, store or log the text": true, "keeps no history": true, "Stores nothing": true,
		"Works without storing the note": true, "What you send is never recorded": true, "Nothing touches the disk": true, "Your text isn't kept": true, "leaves no trace": true, "Nothing is stored, not even keys": true,
		"The text is stored and never sent": false, "It is not sent anywhere and stored locally": false, "Does not keep the order": false, "Your API key is never logged": false, "Does not store your credentials": false,
		"Does not log in": false, "Is not saved automatically": false, "Never records a transaction twice": false, "Not kept longer than a day": false, "Results are not stored": false, "Saves the text": false, "Does not overwrite the original file": false,
		"Never writes outside of the folder": false, "Does not keep session data": false, "Does not change the file": false,
	} {
		if got := promisesNothingKept(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
