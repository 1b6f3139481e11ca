package synth

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

var extensionText = lazyregexp.New(`\.[a-z][a-z0-9]{1,4}\b`)

// ofExtension corrects a path of which a refusal says what it should end in: a
// file of that kind which is there, or the same place under such a name.
func (l *learner) ofExtension(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	h := &l.d.cfg.Hints
	there := slices.Concat(h.Documents, h.Files, h.Images)
	corrected := false
	for name, old := range given {
		var value string
		if json.Unmarshal(old, &value) == nil && schema.NamesType(name, path.Ext(value)) {
			continue // the refusal speaks of another argument with the same value
		}
		if json.Unmarshal(old, &value) != nil || !strings.HasPrefix(value, "/") || !strings.Contains(text, value) || !l.d.planted(value) {
			continue
		}
		wanted := extensionText.FindAllString(strings.ReplaceAll(text, value, ""), 16)
		if len(wanted) == 0 {
			if of := h.OfType(schema.Words(strings.ReplaceAll(text, value, ""))); len(of) > 0 {
				wanted = []string{path.Ext(of[0])}
			}
		}
		if len(wanted) == 0 || slices.Contains(wanted, path.Ext(value)) {
			continue
		}
		is := func(f string) bool { return slices.Contains(wanted, path.Ext(f)) }
		if i := slices.IndexFunc(there, is); i >= 0 && slices.Contains(there, value) {
			value = there[i]
		} else if i >= 0 {
			value = strings.TrimSuffix(value, path.Ext(value)) + path.Ext(there[i])
		} else {
			value = strings.TrimSuffix(value, path.Ext(value)) + wanted[0]
		}
		given[name], corrected = likeOld(old, value), true
	}
	return arguments(given, corrected)
}

// refusedKind matches the refusal of a file for what it is, and ofCode what speaks of source code.
var (
	refusedKind = lazyregexp.New(`(?i)\b(?:language|file ?type|format|extension|unsupported|not (?:supported|available)|recogni[sz]e|parse|decode)\b`)
	ofCode      = lazyregexp.New(`(?i)\b(?:language|syntax|symbols?|imports?|functions?|source code|ast)\b`)
)

// codeEndings are those of source files, the most common first.
var codeEndings = []string{".py", ".js", ".ts", ".go", ".java", ".c", ".rs", ".sh"}

// otherKind gives a call that refused a planted file for what it is, and names no type, a file of another type: of those
// that the tool was not given yet, and where it speaks of code, source files first. nil is for none.
func (d *driver) otherKind(t *target, args json.RawMessage, text string) json.RawMessage {
	if !refusedKind.MatchString(text) {
		return nil
	}
	there := slices.Concat(d.cfg.Hints.Files, d.cfg.Hints.Documents)
	if ofCode.MatchString(text) || ofCode.MatchString(t.decl.Description) {
		slices.SortStableFunc(there, func(a, b string) int { return codeRank(a) - codeRank(b) })
	}
	return t.untried(args, text, func(_ string, old json.RawMessage) (files []string) {
		value, ok := textOf(old)
		if !ok || !slices.Contains(there, value) {
			return nil
		}
		for _, file := range there {
			if path.Ext(file) != path.Ext(value) {
				files = append(files, string(likeOld(old, file)))
			}
		}
		return files
	})
}

// codeRank puts source files before others.
func codeRank(file string) int {
	if i := slices.Index(codeEndings, path.Ext(file)); i >= 0 {
		return i
	}
	return len(codeEndings)
}

// asPath gives a text that a refusal shows as the name of a missing file the name of one that is there: "no such file
// or directory: '/home/sam/workspace/The report is ready.'" says that the text was taken for a path.
func (l *learner) asPath(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 || !absentText.MatchString(text) {
		return nil
	}
	corrected := false
	for name, old := range given {
		value, ok := textOf(old)
		if !ok || value == "" || strings.HasPrefix(value, "/") {
			continue
		}
		i := strings.Index(text, "/"+value)
		if i < 0 {
			continue
		}
		dir := text[strings.LastIndexAny(text[:i], " \t\n'\"“‘`:(")+1 : i]
		if f := existing(l.d.cfg.Hints.Files, dir); f != "" {
			given[name], corrected = likeOld(old, f), true
		}
	}
	return arguments(given, corrected)
}

// withoutPath matches a refusal that asks for a file's name alone.
var withoutPath = lazyregexp.New(`(?i)without (?:a )?(?:path|folder|director)|no path|(?:file ?name|name of a file) (?:only|alone)|only (?:a |the )?file ?names?|must not contain (?:/|slash|path)`)

// asName gives the path of a planted file as it is named from a directory of which the refusal speaks, or its name
// alone where the refusal asks for that. nil is for neither.
func (l *learner) asName(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	corrected := false
	for name, old := range given {
		value, ok := textOf(old)
		if !ok || !strings.HasPrefix(value, "/") || !l.d.planted(value) {
			continue
		}
		if withoutPath.MatchString(text) {
			given[name], corrected = likeOld(old, path.Base(value)), true
			continue
		}
		for _, dir := range absolute.FindAllString(strings.ReplaceAll(text, value, ""), maxQuoted) {
			if below := existing(l.like(value), strings.TrimRight(dir, "./")); below != "" {
				given[name], corrected = likeOld(old, below), true
				break
			}
		}
	}
	return arguments(given, corrected)
}

// like are a planted file, or those of its type where it is not there yet.
func (l *learner) like(value string) []string {
	all := slices.Concat(l.d.cfg.Hints.Files, l.d.cfg.Hints.Documents)
	if slices.Contains(all, value) {
		return []string{value}
	}
	return slices.DeleteFunc(all, func(f string) bool { return path.Ext(f) != path.Ext(value) })
}

// outOfRange matches a refusal of a number that counts nothing.
var outOfRange = lazyregexp.New(`(?i)no such|out of (?:range|bounds)|has only|there (?:is|are) (?:no|only)|does(?: not|n't) (?:exist|have)|not found|too (?:large|high|big)|has no`)

// counted gives refused numbers of things the first: of an empty folder nothing has the number 7. nil is for no number.
func (l *learner) counted(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 || !outOfRange.MatchString(text) {
		return nil
	}
	corrected := false
	for name, old := range given {
		var n int
		if json.Unmarshal(old, &n) == nil && n > 1 {
			given[name], corrected = json.RawMessage("1"), true
		}
	}
	return arguments(given, corrected)
}

// statedNumber is a number that a refusal gives a name, as in "current_version=2".
var statedNumber = lazyregexp.New(`\b([A-Za-z]\w{1,40})["']?\s?(?:=|:| is)\s?(\d{1,9})\b`)

// stated gives refused numbers what the refusal says of a thing of that name: "current_version=2" is the
// "expected_version". nil is for no such number.
func (l *learner) stated(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	corrected := false
	for _, m := range statedNumber.FindAllStringSubmatch(text, 8) {
		thing := strings.ToLower(lastWord.FindString(m[1]))
		for name, old := range given {
			var n json.Number
			if thing == "" || strings.ToLower(lastWord.FindString(name)) != thing || json.Unmarshal(old, &n) != nil || old[0] == '"' || n.String() == m[2] {
				continue
			}
			given[name], corrected = json.RawMessage(m[2]), true
		}
	}
	return arguments(given, corrected)
}

// existing is the first of some files that lies below a directory, as it is named there, "" for none.
func existing(files []string, dir string) string {
	for _, f := range files {
		if below, ok := strings.CutPrefix(f, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
			return below
		}
	}
	return ""
}

// arguments writes corrected arguments, nil where nothing was corrected.
func arguments(given map[string]json.RawMessage, corrected bool) json.RawMessage {
	if !corrected {
		return nil
	}
	out, err := json.Marshal(given)
	if err != nil {
		return nil
	}
	return out
}
