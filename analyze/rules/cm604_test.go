package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

// outliving is a run after which something had to be ended by a signal.
func outliving(instructions, text string, change ...func(*Run)) *Run {
	r := newRun(described("rate", text))
	r.Surface.Instructions = instructions
	r.End = EndFacts{Killed: true, Exited: true}
	for _, c := range change {
		c(r)
	}
	return r
}

// bySignal says that the server itself had to be ended.
func bySignal(r *Run) { r.End.Signal = "TERM" }

// reaching adds a connection between calls.
func reaching(r *Run) {
	r.Profile.Effects = append(r.Profile.Effects, effect("rate", finding.NetConnect, "api.board.example:443", idle))
}

// restarting adds a start of the server's own program after its input was closed.
func restarting(r *Run) {
	r.Profile.Effects = append(r.Profile.Effects, effect("", finding.Exec, "/usr/bin/python3", start, noise("launch")), effect("", finding.Exec, "/usr/bin/python3", ending, argv("python3", "/srv/server.py")))
}

const asksRate = "Asks for a rate."

var ofSurvivors = []ruleCase{
	{"CM604", "nothing runs after the session", outliving("", asksRate+" Nothing runs between calls or after the session."), finding.High},
	{"CM604", "the server promises", outliving("Runs no daemon and leaves nothing behind. No process stays after the session.", asksRate), finding.High},
	{"CM604", "no background process", outliving("Works without any background processes.", asksRate), finding.High},
	{"CM604", "never in the background", outliving("", asksRate+" Does not run anything in the background."), finding.High},
	{"CM604", "ends with the client", outliving("The server exits as soon as the client goes. It ends with the session.", asksRate), finding.High},
	{"CM604", "only when it is called, and it asks between calls", outliving("Rates are asked for only when a tool is called.", asksRate, reaching), finding.High},
	{"CM604", "the server itself stays", outliving("", asksRate+" Nothing runs after the session.", bySignal), finding.Medium},
	{"CM604", "no promise", outliving("", asksRate), finding.Info},
	{"CM604", "no promise, and it asks between calls", outliving("", asksRate, reaching), finding.Info},
	{"CM604", "only when it is called", outliving("Rates are asked for only when a tool is called.", asksRate), finding.Info},
	{"CM604", "a promise of another thing", outliving("Nothing is stored after the session.", asksRate), finding.Info},
	{"CM604", "another order", outliving("Never runs commands. No rate is older than a day.", asksRate), finding.Info},
	{"CM604", "what it starts runs on", outliving("No daemon of its own.", "Starts the build in the background."), finding.Info},
	{"CM604", "a development server", outliving("Ends with the session.", "Starts the development server and keeps it running."), finding.Info},
	{"CM604", "ended as promised", outliving("", asksRate+" Nothing runs after the session.", func(r *Run) { r.End.Killed = false }), ""},
	{"CM604", "its own program, started at the end", outliving("", asksRate, restarting), finding.High},
	{"CM604", "its own program, started at the end, as it says", outliving("", "Keeps running in the background.", restarting), finding.Info},
	{"CM604", "another program, started at the end", outliving("", asksRate, func(r *Run) {
		r.Profile.Effects = append(r.Profile.Effects, effect("", finding.Exec, "/usr/bin/git", ending, argv("git", "gc")))
	}), finding.Medium},
	{"CM604", "the session of a user", outliving("Ends the user's session with one call.", asksRate), finding.Info},
}
