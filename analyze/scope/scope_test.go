package scope

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func TestClaimsLocal(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"Formats a markdown note. Purely local text formatting.", true},
		{"Works offline.", true},
		{"Converts units; makes no network requests.", true},
		{"Does not access the network", true},
		{"Your data never leaves your machine", true},
		{"Everything is processed locally", true},
		{"Connects to a server on localhost", false},
		{"Handles localization of messages", false},
		{"Returns the local time zone", false},
		{"Reads a local file", false},
		{"This does not work offline", false},
		{"Not purely local", false},
		{"Works offline, or downloads the page at a URL", false},
		{"", false},
	} {
		tool := OfTool(&wire.Tool{Name: "x", Description: c.text})
		if got := tool.ClaimsLocal(); got != c.want {
			t.Errorf("%q claims local = %v, want %v (%v, %v)", c.text, got, c.want, tool.Local, tool.Network)
		}
	}
}

func TestAnnotationsAreThreeValued(t *testing.T) {
	absent := OfTool(&wire.Tool{Name: "x"})
	if absent.ClaimsReadOnly() || absent.ClaimsHarmless() || absent.ClaimsLocal() {
		t.Error("absent annotations are no declaration")
	}
	local := OfTool(&wire.Tool{Name: "x", Annotations: &wire.Annotations{OpenWorld: no()}})
	if !local.ClaimsLocal() {
		t.Error("openWorldHint=false rules the network out")
	}
	open := OfTool(&wire.Tool{Name: "x", Description: "Works offline", Annotations: &wire.Annotations{OpenWorld: yes()}})
	if open.ClaimsLocal() {
		t.Error("openWorldHint=true declares the network")
	}
	harmless := OfTool(&wire.Tool{Name: "x", Annotations: &wire.Annotations{Destructive: no()}})
	if !harmless.ClaimsHarmless() || harmless.ClaimsReadOnly() {
		t.Error("destructiveHint=false rules destruction out, not writing")
	}
}

func TestSchemaMeaning(t *testing.T) {
	tool := OfTool(&wire.Tool{Name: "x", InputSchema: json.RawMessage(`{"properties":{
		"filePath":{"type":"string"},"targetUrl":{"type":"string"},"link":{"type":"string","format":"uri"},
		"command":{"type":"string"},"text":{"type":"string"},"any":true}}`)})
	if len(tool.Paths) != 1 || tool.Paths[0] != "filePath" {
		t.Errorf("paths: %v", tool.Paths)
	}
	if len(tool.URLs) != 2 || len(tool.Commands) != 1 {
		t.Errorf("urls %v, commands %v", tool.URLs, tool.Commands)
	}
}

func TestPathByItsExample(t *testing.T) {
	for description, want := range map[string]bool{
		"A picture on this machine, such as ~/Pictures/beach.jpg": true, "Picture (/home/dana/a.png)": true, "For instance ./beach.jpg": true,
		"One of and/or": false, "A rate such as 1/2": false, "https://example.com/home/x": false,
	} {
		schema, _ := json.Marshal(map[string]any{"properties": map[string]any{"photo": map[string]any{"description": description}}})
		if tool := OfTool(&wire.Tool{Name: "x", InputSchema: schema}); (len(tool.Paths) > 0) != want {
			t.Errorf("%q: %v", description, tool.Paths)
		}
	}
}

func TestAddressByItsDescription(t *testing.T) {
	for description, want := range map[string]bool{
		"Address of the feed, for instance https://xkcd.com/rss.xml": true, "The broker's host name": true, "URL": true, "Host (name or IP)": true, "Web address of the page to read": true,
		"Text with URLs in it": false, "Postal address": false, "E-mail address of the recipient": false, "A text, which may have an address": false, "Name of the host": false, "": false,
	} {
		schema, _ := json.Marshal(map[string]any{"properties": map[string]any{"feed": map[string]any{"description": description}}})
		if tool := OfTool(&wire.Tool{Name: "x", InputSchema: schema}); (len(tool.URLs) > 0) != want {
			t.Errorf("%q: %v", description, tool.URLs)
		}
	}
}

// What an argument means, one within it, an element of a list or an alternative means too.
func TestSchemaMeaningWithin(t *testing.T) {
	tool := OfTool(&wire.Tool{Name: "x", InputSchema: json.RawMessage(`{"properties":{
		"params":{"type":"object","properties":{"csvFilePath":{"anyOf":[{"type":"string"},{"type":"array"}]},"threshold":{"type":"number"}}},
		"pages":{"type":"array","items":{"anyOf":[{"properties":{"url":{}}},{"properties":{"name":{}}}]}}}}`)})
	if !slices.Equal(tool.Paths, []string{"params.csvFilePath"}) || !slices.Equal(tool.URLs, []string{"pages.url"}) {
		t.Errorf("paths %v, urls %v", tool.Paths, tool.URLs)
	}
	deep := strings.Repeat(`{"properties":{"a":`, 50) + "{}" + strings.Repeat("}}", 50)
	OfTool(&wire.Tool{Name: "x", InputSchema: json.RawMessage(deep)})
}

func TestConfinementByAnArgument(t *testing.T) {
	for description, want := range map[string]bool{
		"Must be inside the working directory.":                                  true,
		"Must be inside the working directory, the user home directory or /tmp.": false,
		"A path, relative to the working directory or absolute.":                 false,
		"Relative to the working directory; absolute paths and .. are refused.":  true,
		"Relative to the working directory. No .. or absolute paths.":            true,
	} {
		schema, _ := json.Marshal(map[string]any{"properties": map[string]any{"file": map[string]any{"description": description}}})
		if tool := OfTool(&wire.Tool{Name: "x", InputSchema: schema}); len(tool.Confined) > 0 != want {
			t.Errorf("%q: %v", description, tool.Confined)
		}
	}
}

func TestEnvironmentAndExec(t *testing.T) {
	env := OfTool(&wire.Tool{Name: "get-env", Description: "Returns all environment variables, helpful for debugging MCP server configuration"})
	if len(env.Environment) == 0 {
		t.Error("returning the environment was declared")
	}
	run := OfTool(&wire.Tool{Name: "x", Description: "Executes a shell command"})
	if len(run.Exec) == 0 {
		t.Error("running a command was declared")
	}
	for said, want := range map[string]bool{"Gives one small thing to do for the environment today.": false, "Prints the environment of the server process.": true, "Shows the whole environment.": true, "Its impact on the environment.": false} {
		if tool := OfTool(&wire.Tool{Name: "x", Description: said}); (len(tool.Environment) > 0) != want {
			t.Errorf("%q declares to return the environment: %v", said, !want)
		}
	}
	not := OfTool(&wire.Tool{Name: "x", Description: "Does not read environment variables"})
	for _, c := range not.Environment {
		t.Errorf("a negated claim: %+v", c)
	}
}

func FuzzOfTool(f *testing.F) {
	f.Add("name", "Purely local, no network", `{"properties":{"path":{}}}`)
	f.Fuzz(func(_ *testing.T, name, text, schema string) {
		tool := OfTool(&wire.Tool{Name: name, Description: text, InputSchema: json.RawMessage(schema)})
		tool.ClaimsLocal()
		tool.Says("git")
	})
}

// That something is a server of MCP's says nothing of a network; that it asks one does.
func TestTheServerItselfIsNoNetwork(t *testing.T) {
	for _, c := range []struct {
		name, title, instructions, description string
		server, tool                           bool
	}{
		{name: "notes-server"},
		{name: "notes_server", title: "NotesServer"},
		{name: "notes", title: "Notes Server"},
		{name: "notes", instructions: "This server keeps notes. The server is for one user. Notes server, MCP server, our servers."},
		{name: "notes", description: "Lists the notes of this MCP server."},
		{name: "notes", description: "Says how this server is set up."},
		{name: "notes", instructions: "Keeps notes on a mail server.", server: true},
		{name: "build", instructions: "Starts jobs on Jenkins servers.", server: true},
		{name: "mine", description: "Says who plays on a Minecraft server.", tool: true},
		{name: "db", description: "Lists the databases on the server.", tool: true},
	} {
		s := &wire.Surface{Instructions: c.instructions, Tools: []wire.Tool{{Name: "a", Description: c.description}}}
		s.Server.Name, s.Server.Title = c.name, c.title
		got := Of(s)
		if n := len(got.Purpose.Network); (n > 0) != c.server {
			t.Errorf("%+v: the server claims %v", c, got.Purpose.Network)
		}
		if n := len(got.Tools[0].Network); (n > 0) != c.tool {
			t.Errorf("%+v: the tool claims %v", c, got.Tools[0].Network)
		}
		if !got.Purpose.Says("notes") && strings.Contains(c.name, "notes") {
			t.Errorf("%+v: the name's words are lost", c)
		}
	}
}

// What a tool declares is understood in whatever language it is written.
func TestLanguages(t *testing.T) {
	for _, c := range []struct{ language, deletes, environment, local string }{
		{"English", "Deletes a file.", "Shows all environment variables.", "Works offline."},
		{"German", "Löscht eine Datei.", "Zeigt alle Umgebungsvariablen.", "Arbeitet offline und ändert nichts."},
		{"French", "Supprime un fichier.", "Affiche toutes les variables d'environnement.", "Fonctionne hors ligne."},
		{"Spanish", "Elimina un archivo.", "Muestra todas las variables de entorno.", "Funciona sin conexión."},
		{"Italian", "Elimina un file dalla cartella.", "Mostra tutte le variabili d'ambiente.", "Funziona offline, senza rete."},
		{"Portuguese", "Apaga um arquivo.", "Mostra todas as variáveis de ambiente.", "Funciona offline, sem rede."},
		{"Russian", "Удаляет файл.", "Показывает все переменные окружения.", "Работает офлайн."},
		{"Polish", "Usuwa plik.", "Pokazuje wszystkie zmienne środowiskowe.", "Działa offline."},
		{"Turkish", "Bir dosyayı siler.", "Tüm ortam değişkenlerini gösterir.", "Çevrimdışı çalışır."},
		{"Chinese", "删除文件。", "显示所有环境变量。", "完全本地运行,不访问网络。"},
		{"Japanese", "ファイルを削除します。", "すべての環境変数を表示します。", "オフラインで動作します。"},
		{"Korean", "파일을 삭제합니다.", "모든 환경 변수를 표시합니다.", "오프라인에서 작동합니다."},
	} {
		of := func(description string) Tool { return OfTool(&wire.Tool{Name: "t", Description: description}) }
		if tool := of(c.deletes); len(tool.Delete) == 0 {
			t.Errorf("%s: %q deletes nothing: %+v", c.language, c.deletes, tool)
		}
		if tool := of(c.environment); len(tool.Environment) == 0 {
			t.Errorf("%s: %q shows no environment: %+v", c.language, c.environment, tool)
		}
		if tool := of(c.local); !tool.ClaimsLocal() {
			t.Errorf("%s: %q is not local: %+v", c.language, c.local, tool)
		}
	}
}
