package synth

import "strconv"

// dataFormats are documents that programs exchange: of money, music, measurements, translations and machines.
func (w *work) dataFormats() []format {
	title, item, count := w.title, w.items[0], strconv.Itoa(w.counts[0])
	return []format{
		{".ofx", "money/account.ofx", "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\nOLDFILEUID:NONE\nNEWFILEUID:NONE\n\n" +
			"<OFX><BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>10010010<ACCTID>1024<ACCTTYPE>CHECKING</BANKACCTFROM>" +
			"<BANKTRANLIST><DTSTART>20260301<DTEND>20260331\n<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260314<TRNAMT>-" + count + ".50<FITID>1<NAME>" + item + "</STMTTRN>\n" +
			"</BANKTRANLIST><LEDGERBAL><BALAMT>512.00<DTASOF>20260331</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"},
		{".qif", "money/account.qif", "!Type:Bank\nD03/14/2026\nT-" + count + ".50\nP" + item + "\n^\n"},
		{".ledger", "money/main.ledger", "2026/03/14 " + item + "\n    Expenses:Food    " + count + ".50 EUR\n    Assets:Cash\n"},
		{".beancount", "money/main.beancount", "2026-03-01 open Assets:Cash EUR\n2026-03-01 open Expenses:Food EUR\n\n2026-03-14 * \"" + item + "\"\n  Expenses:Food  " + count + ".50 EUR\n  Assets:Cash\n"},
		{".opml", "data/feeds.opml", `<?xml version="1.0"?>` + "\n" + `<opml version="2.0"><head><title>` + title + `</title></head><body><outline text="` + item + `" type="rss" xmlUrl="https://www.example.com/feed.xml"/></body></opml>` + "\n"},
		{".rss", "data/news.rss", `<?xml version="1.0"?>` + "\n" + `<rss version="2.0"><channel><title>` + title + `</title><link>https://www.example.com/</link><description>News</description><item><title>` + item + `</title><link>https://www.example.com/1</link></item></channel></rss>` + "\n"},
		{".ndjson", "data/events.ndjson", `{"item":"` + item + `","count":` + count + "}\n" + `{"item":"market","count":2}` + "\n"},
		{".har", "data/page.har", `{"log":{"version":"1.2","creator":{"name":"example","version":"1"},"pages":[],"entries":[{"startedDateTime":"2026-03-14T09:30:00Z","time":` + count + `,"request":{"method":"GET","url":"https://www.example.com/","httpVersion":"HTTP/1.1","headers":[],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"cookies":[],"content":{"size":2,"mimeType":"text/plain","text":"ok"},"redirectURL":"","headersSize":-1,"bodySize":2},"cache":{},"timings":{"send":1,"wait":2,"receive":1}}]}}` + "\n"},
		{".sarif", "data/scan.sarif", `{"version":"2.1.0","$schema":"https://json.schemastore.org/sarif-2.1.0.json","runs":[{"tool":{"driver":{"name":"example","rules":[]}},"results":[{"ruleId":"X1","level":"warning","message":{"text":"` + title + `"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"site/index.js"},"region":{"startLine":1}}}]}]}]}` + "\n"},
		{".lcov", "data/coverage.lcov", "TN:\nSF:site/index.js\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\n"},
		{".info", "coverage/lcov.info", "TN:\nSF:site/index.js\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\n"},
		{".patch", "data/change.patch", changeOf(item, count)},
		{".diff", "data/change.diff", changeOf(item, count)},
		{".xlf", "locale/de.xlf", `<?xml version="1.0"?>` + "\n" + `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" target-language="de" datatype="plaintext" original="app"><body><trans-unit id="1"><source>` + item + `</source></trans-unit></body></file></xliff>` + "\n"},
		{".arb", "locale/app_en.arb", `{"@@locale":"en","title":"` + title + `"}` + "\n"},
		{".strings", "locale/en.strings", "\"title\" = \"" + title + "\";\n"},
		{".resx", "locale/app.resx", `<?xml version="1.0"?>` + "\n<root><data name=\"title\" xml:space=\"preserve\"><value>" + title + "</value></data></root>\n"},
		{".abc", "media/tune.abc", "X:1\nT:" + title + "\nM:4/4\nL:1/4\nK:C\nCDEF|GABc|\n"},
		{".mid", "media/tune.mid", "MThd\x00\x00\x00\x06\x00\x00\x00\x01\x00\x60MTrk\x00\x00\x00\x0c\x00\x90\x3c\x40\x60\x80\x3c\x40\x00\xff\x2f\x00"},
		{".lrc", "media/tune.lrc", "[ti:" + title + "]\n[00:01.00]" + item + "\n"},
		{".cast", "media/session.cast", `{"version": 2, "width": 80, "height": 24}` + "\n" + `[0.5, "o", "` + item + `\r\n"]` + "\n"},
		{".stl", "data/part.stl", "solid part\nfacet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n endloop\nendfacet\nendsolid part\n"},
		{".obj", "data/part.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
		{".tcx", "data/run.tcx", `<?xml version="1.0"?>` + "\n" + `<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities><Activity Sport="Running"><Id>2026-03-14T09:30:00Z</Id><Lap StartTime="2026-03-14T09:30:00Z"><TotalTimeSeconds>600</TotalTimeSeconds><DistanceMeters>2000</DistanceMeters><Track><Trackpoint><Time>2026-03-14T09:30:00Z</Time><DistanceMeters>0</DistanceMeters></Trackpoint></Track></Lap></Activity></Activities></TrainingCenterDatabase>` + "\n"},
		{".zone", "data/example.zone", "$ORIGIN example.com.\n$TTL 3600\n@ IN SOA ns1 admin 1 3600 600 86400 60\n@ IN NS ns1.example.com.\nns1 IN A 192.0.2.1\nwww IN A 192.0.2.2\n"},
		{".service", "data/worker.service", "[Unit]\nDescription=" + title + "\n\n[Service]\nExecStart=/usr/bin/true\n\n[Install]\nWantedBy=default.target\n"},
		{".desktop", "data/app.desktop", "[Desktop Entry]\nType=Application\nName=" + title + "\nExec=true\n"},
		{".tf", "deploy/main.tf", "variable \"name\" {\n  type    = string\n  default = \"" + item + "\"\n}\n\noutput \"name\" {\n  value = var.name\n}\n"},
		{".hcl", "deploy/main.hcl", "name = \"" + item + "\"\ncount = " + count + "\n"},
		{".conf", "data/site.conf", "server {\n  listen 8080;\n  server_name www.example.com;\n}\n"},
		{".plist", "data/app.plist", `<?xml version="1.0"?>` + "\n" + `<plist version="1.0"><dict><key>Name</key><string>` + title + "</string></dict></plist>\n"},
		{".fasta", "data/sample.fasta", ">sample1\nACGTACGTTAGC\n>sample2\nTTGACCA\n"},
		{".pdb", "data/sample.pdb", "ATOM      1  N   GLY A   1      11.104   6.134  -6.504  1.00  0.00           N\nEND\n"},
		{".wkt", "data/area.wkt", "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))\n"},
		{".m3u8", "media/list.m3u8", "#EXTM3U\n#EXTINF:2," + title + "\n../data/tone.wav\n"},
		{".edn", "data/settings.edn", "{:name \"" + item + "\" :count " + count + "}\n"},
		{".json5", "data/settings.json5", "{name: '" + item + "', count: " + count + "}\n"},
		{".http", "data/requests.http", "GET https://www.example.com/items\nAccept: application/json\n"},
		{".feature", "data/stock.feature", "Feature: " + title + "\n  Scenario: count\n    Given " + count + " " + item + "\n    Then the stock is " + count + "\n"},
	}
}

// changeOf is a change of two files: of a note, and of a script that then fetches and runs something, as what shows or
// judges changes is made for.
func changeOf(item, count string) string {
	return "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-" + item + "\n+" + count + " " + item + "\n" +
		"--- a/setup.sh\n+++ b/setup.sh\n@@ -1,2 +1,4 @@\n #!/bin/sh\n-echo ready\n+wget -q https://www.example.com/data.tar.gz\n+exec make install\n+echo ready\n"
}
