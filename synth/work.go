package synth

import (
	"fmt"
	"hash/crc32"
	"math/rand"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	pdfName = "docs/report.pdf"
	// repoName is a repository below the workspace, which is one itself.
	repoName = "project"
	// excludeName is what git ignores in the workspace, beside .gitignore.
	excludeName = ".git/info/exclude"
	// remoteName is the bare repository that both were cloned from.
	remoteName = "project.git"
)

// work is what somebody works on in a workspace, all of it drawn from one seed.
type work struct {
	seed int64
	at   time.Time // when it was last worked on
	// texts are the text files, by path below the root. Every line of those that are to
	// be edited occurs once.
	texts                []struct{ name, data string }
	title                string // of the report
	imageName, sheetName string
	colour               [3]byte
	items                []string
	counts               []int
	history              history
	made                 []sample // what samples returned, nil before
}

var (
	undertakings = strings.Fields("garden kitchen studio attic terrace workshop library greenhouse playground courtyard gallery cellar")
	articles     = strings.Fields("window bench lantern shelf ladder bucket carpet mirror hinge cabinet pillow basket curtain kettle drawer")
	months       = strings.Fields("January February March April May June July August September October November December")
	weekdays     = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday")
	cities       = strings.Fields("York Leeds Bristol Bath Cardiff Oxford Dundee Exeter Lincoln Durham Norwich Chester")
	givenNames   = strings.Fields("Alex Sam Robin Jamie Morgan Taylor Casey Jordan Avery Quinn")
	familyNames  = strings.Fields("Morgan Reed Hayes Lowe Marsh Doyle Fenn Barker Holt Voss")
	chores       = []string{
		"finish the quarterly report", "water the plants on the balcony", "renew the parking permit", "call the plumber about the tap",
		"return the books", "measure the hallway", "order more paint", "fix the bicycle", "sort the photographs", "pay the invoice",
	}
	outlooks = []string{
		"The second quarter looks steady.", "Orders for the summer are ahead of plan.", "Costs of freight remain the main risk.",
		"Two new shops open in autumn.", "The budget for next year is under review.",
	}
)

// pick draws one of some words.
func pick(r *rand.Rand, from []string) string { return from[r.Intn(len(from))] }

// several draws so many different ones.
func several(r *rand.Rand, from []string, n int) []string {
	var out []string
	for _, i := range r.Perm(len(from))[:n] {
		out = append(out, from[i])
	}
	return out
}

// drawWork draws everything of a workspace.
func drawWork(seed int64) *work {
	r := rand.New(rand.NewSource(seed))
	first := time.Date(2026, time.January, 12, 8, 0, 0, 0, time.UTC)
	w := &work{seed: seed, at: first.Add(time.Duration(r.Intn(120*24*3600)) * time.Second), items: several(r, articles, 3+r.Intn(4))}
	for range w.items {
		w.counts = append(w.counts, 2+r.Intn(40))
	}
	thing, month, days := pick(r, undertakings), pick(r, months), several(r, weekdays, 2)
	w.title = pick(r, []string{"Quarterly report", "Report of the " + thing + " group", "Half-year report", "Report for " + month})
	w.colour = [3]byte{byte(r.Intn(256)), byte(r.Intn(256)), byte(r.Intn(256))}
	w.imageName = "images/" + pick(r, []string{"photo", "picture", thing, "scan"}) + ".png"
	stock := "data/" + pick(r, []string{"inventory", "stock", "supplies", "purchases"})
	w.sheetName = stock + ".xlsx"
	add := func(name, format string, args ...any) {
		w.texts = append(w.texts, struct{ name, data string }{name, fmt.Sprintf(format, args...)})
	}
	add("notes.txt", "Notes from %s\n\nThe %s project starts in %s.\nAsk the market about the %s prices.\nBook the train to %s before %s.\n",
		days[0], thing, month, w.items[0], pick(r, cities), days[1])
	add(pick(r, []string{"todo.md", "tasks.md", "next.md"}), "# To do\n\n- %s\n- send the list to %s\n", strings.Join(several(r, chores, 2+r.Intn(3)), "\n- "), pick(r, givenNames))
	add("docs/report.md", "# %s\n\nSales rose by %d per cent.\n\n## Outlook\n\n%s\n", w.title, 2+r.Intn(9), pick(r, outlooks))
	add(pick(r, []string{"docs/index.html", "docs/start.html", "docs/page.html"}),
		"<!doctype html>\n<html>\n<head><title>The %s project</title></head>\n<body><h1>The %[1]s project</h1><p>Work starts in %s.</p></body>\n</html>\n", thing, month)
	rows := ""
	for i, item := range w.items {
		rows += item + "," + strconv.Itoa(w.counts[i]) + "," + strconv.Itoa(1+r.Intn(150)) + "." + pick(r, []string{"00", "25", "50", "95"}) + "\n"
	}
	add(stock+".csv", "item,count,price\n%s", rows)
	add(pick(r, []string{"data/settings.json", "data/preferences.json", "data/options.json"}), "{\n  \"theme\": %q,\n  \"language\": \"en\",\n  \"items\": [1, 2, %d]\n}\n",
		pick(r, []string{"light", "dark", "system"}), 3+r.Intn(90))
	verb := pick(r, []string{"count", "total", "measure"})
	add("scripts/"+verb+".py", "def %s(items):\n    return len(items)\n\n\nprint(%[1]s([1, 2, %d]))\n", verb, 3+r.Intn(90))
	add(pick(r, []string{"old-notes.txt", "archive.txt", "last-year.txt"}), "Notes from last year\n\nThe %s was painted in %s.\n", pick(r, undertakings), pick(r, months))
	w.history = drawHistory(r, w.at, thing, w.items)
	return w
}

// drawHistory draws the repository: of the last months, as the files beside it.
func drawHistory(r *rand.Rand, at time.Time, thing string, items []string) history {
	given, family := pick(r, givenNames), pick(r, familyNames)
	title := "# " + strings.ToUpper(thing[:1]) + thing[1:] + " project\n\n"
	greeting := pick(r, []string{"hello", "ready", "started", thing})
	subject := pick(r, []string{"Start the project", "First version", "Begin the " + thing + " program", "Add the program"})
	program := func(text string) string {
		return "def main():\n    print(\"" + text + "\")\n\n\nif __name__ == \"__main__\":\n    main()\n"
	}
	tree := func(readme, main string) []trackedFile {
		return []trackedFile{{".gitignore", "__pycache__/\n*.log\n.env\n.git-credentials\n" + repoName + "/\n" + remoteName + "/\n"}, {changedName, readme}, {"main.py", main}}
	}
	const day = 24 * time.Hour
	first := at.Add(-time.Duration(30+r.Intn(60)) * day).Add(-time.Duration(r.Intn(9*3600)) * time.Second)
	second := at.Add(-time.Duration(8+r.Intn(20)) * day).Add(-time.Duration(r.Intn(9*3600)) * time.Second)
	described := title + "A small program that counts each " + items[0] + ".\n"
	return history{
		name: given + " " + family, email: strings.ToLower(given) + "@example.com", at: at,
		commits: []commit{
			{subject, first, tree(title, program(""))},
			{pick(r, []string{"Say what it counts", "Describe the program", "Explain what it is for"}), second, tree(described, program(""))},
			{pick(r, []string{"Greet whoever starts it", "Say something at the start", "Print a word"}), at.Add(-3 * day), tree(described, program(greeting))},
		},
		side: pick(r, []string{"draft", "next", "try-" + items[1], "more-" + items[1] + "s"}), tag: fmt.Sprintf("v0.%d", 1+r.Intn(4)),
		changedText: title + "A small program that counts each " + items[0] + " and each " + items[1] + ".\n\n## Use\n\nRun main.py.\n",
	}
}

// changed is when a part of the workspace was: some day of the months before, but for
// what git keeps and tracks, whose times its index tells.
func (w *work) changed(name string) time.Time {
	tracked := slices.ContainsFunc(w.history.tracked(), func(f trackedFile) bool { return f.name == name })
	if tracked || name == "" || name == repoName || strings.HasPrefix(name, repoName+"/") || name == ".git" || strings.HasPrefix(name, ".git/") {
		return w.at
	}
	const months = 120 * 24 * 3600
	key := strconv.FormatInt(w.seed, 10) + "/" + path.Clean(name)
	return w.at.Add(-time.Duration(crc32.ChecksumIEEE([]byte(key))%months) * time.Second)
}
