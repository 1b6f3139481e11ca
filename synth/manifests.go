package synth

import (
	"slices"
	"strconv"
	"strings"
)

// manifests are the files by which tools know a project, by their names in its root directory. One is planted
// where the server's source names it: a server that runs a project's scripts needs a project that has some.
func (w *work) manifests(named func(name string) bool) (out []sample) {
	item, count := w.items[0], strconv.Itoa(w.counts[0])
	compose := "services:\n  web:\n    image: example.com/" + item + ":1\n    ports:\n      - 8080:8080\n"
	for _, m := range []struct{ name, text string }{
		{"package.json", "{\n  \"name\": \"" + item + "\",\n  \"version\": \"0.1.0\",\n  \"private\": true,\n  \"scripts\": {\n    \"start\": \"node site/index.js\",\n    \"test\": \"node --check site/index.js\"\n  },\n  \"dependencies\": {}\n}\n"},
		{"Makefile", ".PHONY: all test clean\n\nall: test\n\ntest:\n\t@echo " + count + " " + item + "\n\nclean:\n\t@echo clean\n"},
		{"justfile", "test:\n    echo " + count + " " + item + "\n"},
		{"Taskfile.yml", "version: '3'\ntasks:\n  test:\n    cmds:\n      - echo " + count + " " + item + "\n"},
		{"Procfile", "web: echo " + item + " is ready\nworker: echo " + count + "\n"},
		{"Dockerfile", "FROM scratch\nCOPY notes.txt /notes.txt\n"},
		{"docker-compose.yml", compose},
		{"compose.yaml", compose},
		{"pyproject.toml", "[project]\nname = \"" + item + "\"\nversion = \"0." + count + ".0\"\ndependencies = [\"requests>=2.31\"]\n"},
		{"requirements.txt", "requests==2.31.0\npyyaml==6.0.1\n"},
		{"setup.cfg", "[metadata]\nname = " + item + "\nversion = 0." + count + ".0\n"},
		{"tox.ini", "[tox]\nenvlist = py3\n\n[testenv]\ncommands = python --version\n"},
		{"go.mod", "module example.com/" + item + "\n\ngo 1.22\n"},
		{"Cargo.toml", "[package]\nname = \"" + item + "\"\nversion = \"0." + count + ".0\"\nedition = \"2021\"\n\n[dependencies]\nserde = \"1\"\n"},
		{"composer.json", "{\n  \"name\": \"example/" + item + "\",\n  \"require\": {}\n}\n"},
		{"Gemfile", "source \"https://rubygems.org\"\n\ngem \"rake\"\n"},
		{"pom.xml", "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  <groupId>com.example</groupId>\n  <artifactId>" + item + "</artifactId>\n  <version>" + count + "</version>\n</project>\n"},
		{"build.gradle", "plugins { id 'java' }\n\ngroup = 'com.example'\nversion = '" + count + "'\n"},
		{"CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(" + item + " VERSION 0." + count + " LANGUAGES NONE)\n"},
		{"CMakePresets.json", "{\n  \"version\": 3,\n  \"configurePresets\": [{\"name\": \"default\", \"generator\": \"Unix Makefiles\", \"binaryDir\": \"${sourceDir}/build\"}],\n  \"buildPresets\": [{\"name\": \"default\", \"configurePreset\": \"default\"}],\n  \"testPresets\": [{\"name\": \"default\", \"configurePreset\": \"default\"}]\n}\n"},
		{"meson.build", "project('" + item + "', version: '0." + count + ".0')\n"},
		{"build.gradle.kts", "plugins { java }\n\ngroup = \"com.example\"\nversion = \"" + count + "\"\n"},
		{"mix.exs", "defmodule Example.MixProject do\n  use Mix.Project\n\n  def project, do: [app: :example, version: \"0." + count + ".0\", deps: []]\nend\n"},
		{"pubspec.yaml", "name: " + item + "\nversion: 0." + count + ".0\nenvironment:\n  sdk: ^3.0.0\n"},
		{"Package.swift", "// swift-tools-version:5.9\nimport PackageDescription\n\nlet package = Package(name: \"" + item + "\", targets: [.target(name: \"" + item + "\")])\n"},
		{"deno.json", "{\n  \"tasks\": { \"test\": \"echo " + item + "\" }\n}\n"},
		{"Pipfile", "[packages]\nrequests = \"*\"\n"},
		{"environment.yml", "name: " + item + "\nchannels: [conda-forge]\ndependencies:\n  - python=3.11\n"},
		{"package-lock.json", "{\n  \"name\": \"" + item + "\",\n  \"version\": \"0.1.0\",\n  \"lockfileVersion\": 3,\n  \"packages\": { \"\": { \"name\": \"" + item + "\", \"version\": \"0.1.0\" } }\n}\n"},
		{"docker-compose.yaml", compose},
		{"compose.yml", compose},
		{"Chart.yaml", "apiVersion: v2\nname: " + item + "\nversion: 0." + count + ".0\n"},
		{"main.tf", "variable \"region\" {\n  default = \"eu-west-1\"\n}\n\noutput \"name\" {\n  value = \"" + item + "\"\n}\n"},
		{".gitlab-ci.yml", "test:\n  script:\n    - echo " + item + "\n"},
		{"Jenkinsfile", "pipeline {\n  agent any\n  stages {\n    stage('Test') { steps { echo '" + item + "' } }\n  }\n}\n"},
		{".pre-commit-config.yaml", "repos:\n  - repo: local\n    hooks:\n      - id: " + item + "\n        name: " + item + "\n        entry: echo\n        language: system\n"},
		{"openapi.yaml", "openapi: 3.0.3\ninfo:\n  title: " + w.title + "\n  version: 0." + count + ".0\npaths:\n  /" + item + ":\n    get:\n      responses:\n        '200':\n          description: All of them\n"},
		{"schema.prisma", "datasource db {\n  provider = \"sqlite\"\n  url      = \"file:./data.db\"\n}\n\nmodel Item {\n  id   Int    @id\n  name String\n}\n"},
		{"foundry.toml", "[profile.default]\nsrc = \"src\"\nout = \"out\"\n"},
		{"CODEOWNERS", "* @alex @sam\n/docs/ @sam\n"},
		{"tsconfig.json", "{\n  \"compilerOptions\": { \"strict\": true, \"target\": \"es2022\" },\n  \"include\": [\"site\"]\n}\n"},
		{"mkdocs.yml", "site_name: " + item + "\nnav:\n  - Report: report.md\n"},
		{"CHANGELOG.md", "# Changelog\n\n## 0." + count + ".0\n\n- The first " + item + "\n"},
		{".editorconfig", "root = true\n\n[*]\nindent_style = space\nindent_size = 2\n"},
		{".env.example", "PORT=8080\nLOG_LEVEL=info\n"},
	} {
		if named(m.name) {
			out = append(out, sample{m.name, []byte(m.text)})
		}
	}
	return out
}

// formats are small documents of types that few tools read, one for each ending that the server's source names.
func (w *work) formats(named func(name string) bool) (out []sample) {
	for _, f := range slices.Concat(w.textFormats(), w.dataFormats(), w.codeFormats(), w.binaryFormats(named)) {
		if named(f.ending) {
			out = append(out, sample{f.name, []byte(f.text)})
		}
	}
	return out
}

// format is a small document and the ending by which a source names its type.
type format struct{ ending, name, text string }

// textFormats are documents that people write, and programs' own.
func (w *work) textFormats() []format {
	title, item, count := w.title, w.items[0], strconv.Itoa(w.counts[0])
	const stamp = "2026-03-14T09:30:00Z"
	return []format{
		{".srt", "media/talk.srt", "1\n00:00:01,000 --> 00:00:03,500\n" + title + "\n\n2\n00:00:04,000 --> 00:00:06,000\n" + count + " " + item + "\n"},
		{".vtt", "media/talk.vtt", "WEBVTT\n\n00:00:01.000 --> 00:00:03.500\n" + title + "\n"},
		{".m3u", "media/list.m3u", "#EXTM3U\n#EXTINF:2," + title + "\n../data/tone.wav\n"},
		{".bib", "docs/sources.bib", "@article{" + item + "2026,\n  author = {Example, A.},\n  title = {" + title + "},\n  journal = {Journal of Examples},\n  year = {2026}\n}\n"},
		{".tex", "docs/paper.tex", "\\documentclass{article}\n\\begin{document}\n\\section{" + title + "}\n" + count + " " + item + "\n\\end{document}\n"},
		{".rst", "docs/guide.rst", title + "\n" + strings.Repeat("=", len(title)) + "\n\n* " + item + "\n"},
		{".adoc", "docs/guide.adoc", "= " + title + "\n\n* " + item + "\n"},
		{".org", "docs/tasks.org", "#+TITLE: " + title + "\n* TODO Count the " + item + "\n* DONE Book the train\n"},
		{".eml", "mail/letter.eml", "From: alex@example.com\r\nTo: sam@example.com\r\nSubject: " + title + "\r\nDate: Sat, 14 Mar 2026 09:30:00 +0000\r\nMessage-ID: <1@example.com>\r\n\r\n" + count + " " + item + "\r\n"},
		{".mbox", "mail/box.mbox", "From alex@example.com Sat Mar 14 09:30:00 2026\nFrom: alex@example.com\nTo: sam@example.com\nSubject: " + title + "\n\n" + count + " " + item + "\n"},
		{".vcf", "data/people.vcf", "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Example;Alex;;;\r\nFN:Alex Example\r\nEMAIL:alex@example.com\r\nEND:VCARD\r\n"},
		{".gpx", "data/walk.gpx", `<?xml version="1.0"?>` + "\n" + `<gpx version="1.1" creator="example" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>` + title + `</name><trkseg><trkpt lat="51.5" lon="-0.12"><ele>12</ele><time>` + stamp + `</time></trkpt><trkpt lat="51.6" lon="-0.11"><ele>15</ele><time>2026-03-14T10:30:00Z</time></trkpt></trkseg></trk></gpx>` + "\n"},
		{".kml", "data/places.kml", `<?xml version="1.0"?>` + "\n" + `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>` + item + `</name><Point><coordinates>-0.12,51.5,0</coordinates></Point></Placemark></kml>` + "\n"},
		{".ini", "data/settings.ini", "[main]\nname = " + item + "\ncount = " + count + "\n"},
		{".toml", "data/settings.toml", "[main]\nname = \"" + item + "\"\ncount = " + count + "\n"},
		{".properties", "data/settings.properties", "main.name=" + item + "\nmain.count=" + count + "\n"},
		{".jsonl", "data/events.jsonl", `{"at":"` + stamp + `","event":"start","item":"` + item + `"}` + "\n" + `{"at":"` + stamp + `","event":"stop","count":` + count + "}\n"},
		{".log", "logs/server.log", stamp + " INFO started\n" + stamp + " ERROR " + item + ": not found\n"},
		{".sql", "data/schema.sql", "CREATE TABLE " + item + " (id INTEGER PRIMARY KEY, count INTEGER NOT NULL);\nINSERT INTO " + item + " (count) VALUES (" + count + ");\n"},
		{".proto", "data/stock.proto", "syntax = \"proto3\";\n\nmessage Item {\n  string name = 1;\n  int32 count = 2;\n}\n"},
		{".graphql", "data/stock.graphql", "type Item {\n  name: String!\n  count: Int\n}\n\ntype Query {\n  items: [Item!]!\n}\n"},
		{".po", "locale/de.po", "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"" + item + "\"\nmsgstr \"\"\n"},
		{".ris", "docs/sources.ris", "TY  - JOUR\nAU  - Example, A.\nTI  - " + title + "\nPY  - 2026\nER  - \n"},
		{".dot", "images/plan.dot", "digraph plan {\n  " + item + " -> market;\n}\n"},
		{".puml", "images/plan.puml", "@startuml\nAlice -> Bob: " + item + "\n@enduml\n"},
		{".mmd", "images/plan.mmd", "graph TD\n  A[" + item + "] --> B[market]\n"},
		{".scss", "site/page.scss", "$colour: " + hexColour(w.colour) + ";\n\nbody { color: $colour; }\n"},
		{".css", "site/page.css", "body { color: " + hexColour(w.colour) + "; }\n"},
		{".cue", "media/talk.cue", "TITLE \"" + title + "\"\nFILE \"tone.wav\" WAVE\n  TRACK 01 AUDIO\n    TITLE \"" + item + "\"\n    INDEX 01 00:00:00\n"},
	}
}
