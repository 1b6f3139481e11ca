package rules

import (
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var cm118 = Rule{Rule: cm118Doc, Check: checkCM118, Shrink: ShrinkNever}

var cm118Doc = finding.Rule{
	ID: "CM118", Name: "DocumentSent", Title: "User document sent to the network", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The user gave nobody this document.", Fix: "Send only files that an argument names, or say in the description that documents are uploaded, and where to.", Preview: true},
	CWE:    []string{"CWE-200", "CWE-359"}, OWASP: []string{"MCP01", "MCP10"},
	Help: "The server read a text file in a directory of the user's, such as `~/Documents`, and sent its contents to a host. No argument of the call names the file or a directory around it, and no declaration says that documents, notes or files are uploaded, sent, indexed or translated.\n\n" +
		"**Evidence.** The flow. coalmine planted the file, and looks for a line of it as it is, in hexadecimal digits, in base 32, in base 64 and in an address, and decodes and unpacks what looks random. A line that a call was given says nothing.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says that it uploads the files of a directory.",
}

// sendsDocuments are declarations that documents leave the machine, or are worked on by a service.
var sendsDocuments = lazyregexp.New(`(?i)\b(?:upload|send|sync|synchroni[sz]e|back|share|publish|post|submit|transmit|push|index|embed|ingest|import|summari[sz]e|translate|convert)(?:s|es|ed|ing)?\b.{0,80}\b(?:documents?|files?|notes?|folders?|director(?:y|ies)|vaults?|papers?|pages?|contents?|texts?|home)\b` +
	`|\b(?:documents?|files?|notes?|folders?|director(?:y|ies)|vaults?|papers?|pages?|contents?|texts?)\b.{0,60}\b(?:uploaded|sent|synced|synchroni[sz]ed|backed up|shared|published|posted|submitted|pushed|indexed|embedded|ingested|imported|summari[sz]ed|translated|converted)\b`)

func checkCM118(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Relayed {
		c := &r.Profile.Relayed[i]
		if c.Loopback || r.givenHost(c.Host) || r.brokenBy(c) != "" || slices.ContainsFunc(c.Sources, func(s profile.Source) bool { return s.Kind != profile.SourceDocument || r.handsOver(c, s.Name) }) ||
			r.sentenceOf(serverOr(c.Tool), func(s *sentence) bool { return !s.denies && sendsDocuments.MatchString(s.text) }) != "" {
			continue
		}
		who := "“" + c.Tool + "”"
		if c.Call == 0 {
			who = "the server (outside any call)"
		}
		what := r.sourceText(c.Sources[0])
		out = append(out, r.sentInCall(&cm118Doc, &c.Carried, c.Tool, who+" sent "+what+" to "+c.Peer+" over "+c.Via))
	}
	return first(out)
}

// handsOver reports whether an argument of the call names a document, or a directory around it.
func (r *Run) handsOver(c *profile.Relayed, document string) bool {
	return r.names(&finding.Effect{Kind: finding.FileRead, Target: document, Call: c.Call, Tool: c.Tool}) || r.asked(c.Call, path.Base(document))
}
