package gloss

import (
	"strings"
	"testing"
)

func TestEnglish(t *testing.T) {
	for _, c := range []struct {
		text string
		// has are words of the English text, in their order.
		has string
	}{
		{"Löscht eine Datei an einem beliebigen Pfad.", "deletes file any path"},
		{"Führt einen Shell-Befehl aus und gibt seine Ausgabe zurück.", "command output"},
		{"Efface un fichier du dossier personnel de l'utilisateur.", "file user"},
		{"Escribe un texto en un archivo.", "writes text file"},
		{"Mostra tutte le variabili d'ambiente.", "environment variables"},
		{"Apaga um arquivo do projeto.", "deletes file project"},
		{"Verwijdert een bestand uit de map.", "deletes file"},
		{"Usuwa plik z katalogu.", "deletes file"},
		{"Удаляет файл по любому пути.", "deletes file path"},
		{"Bir dosyayı siler.", "file deletes"},
		{"删除任意路径的文件。", "deletes any path file"},
		{"將文字寫入檔案。", "writes file"},
		{"任意のパスのファイルを削除します。", "any path file deletes"},
		{"파일을 삭제합니다.", "file deletes"},
		{"Schreibt nach ~/notes/a.txt und fragt api.wetter.example.", "writes ~/notes/a.txt api.wetter.example"},
	} {
		got := English(c.text)
		rest := got
		for _, w := range strings.Fields(c.has) {
			var ok bool
			if _, rest, ok = strings.Cut(rest, w); !ok {
				t.Errorf("%s: %q has no %q there", c.text, got, w)
				break
			}
		}
	}
}

func TestEnglishStaysAlone(t *testing.T) {
	for _, s := range []string{
		"", "x", "Deletes a file at any path.", "Runs a shell command and returns its output.", "die", "List of all notes, in order",
		"Get an item by id", "Search the web", "no-op", "Send a message to a channel (e.g. #general)", "Café list", "Returns the résumé of a person", "a → b",
	} {
		if got := English(s); got != "" {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// Each glossary is a list of pairs, in lower case, no word twice.
func TestGlossaries(t *testing.T) {
	for language := range glossaries() {
		b, err := files.ReadFile("words/" + language + ".tsv")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for line := range strings.Lines(string(b)) {
			foreign, english, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if !ok || foreign == "" || english == "" || foreign != strings.TrimSpace(strings.ToLower(foreign)) || seen[foreign] {
				t.Errorf("%s: %q", language, line)
			}
			seen[foreign] = true
		}
		if len(seen) < 250 {
			t.Errorf("%s has %d words", language, len(seen))
		}
	}
}

func FuzzEnglish(f *testing.F) {
	f.Add("Löscht eine Datei. 删除文件 l'utilisateur ~/a.b")
	f.Add("\xff파일을 ''' :// ..")
	f.Fuzz(func(t *testing.T, s string) {
		if got := English(s); len(got) > 20*len(s)+100 {
			t.Errorf("%d bytes became %d", len(s), len(got))
		}
	})
}

func BenchmarkEnglish(b *testing.B) {
	s := "Returns the current weather of a city in metric units. The city may be written in any language; ask the user if several have the name."
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		English(s)
	}
}
