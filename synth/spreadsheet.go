package synth

import (
	"fmt"
	"strconv"
)

// The names of ECMA-376 part 1 for the parts of a spreadsheet.
const (
	sheetMain      = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	sheetRelation  = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	sheetPackage   = "http://schemas.openxmlformats.org/package/2006/"
	sheetMediaType = "application/vnd.openxmlformats-officedocument.spreadsheetml."
)

// workbook is a spreadsheet of one sheet with a heading and a row for each item. It has the parts that Excel itself
// writes, such as views and styles, for which libraries do not look twice.
func workbook(items []string, counts []int) ([]byte, error) {
	texts := append([]string{"item", "count"}, items...)
	cells := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>`
	for i := range items {
		n := strconv.Itoa(i + 2)
		cells += fmt.Sprintf(`<row r="%s"><c r="A%[1]s" t="s"><v>%[2]d</v></c><c r="B%[1]s"><v>%[3]d</v></c></row>`, n, i+2, counts[i])
	}
	total, sum := strconv.Itoa(len(items)+2), 0
	for _, n := range counts[:len(items)] {
		sum += n
	}
	cells += fmt.Sprintf(`<row r="%s"><c r="B%[1]s"><f>SUM(B2:B%d)</f><v>%d</v></c></row>`, total, len(items)+1, sum)
	shared := ""
	for _, text := range texts {
		shared += "<si><t>" + text + "</t></si>"
	}
	override := func(part, kind string) string {
		return `<Override PartName="/xl/` + part + `" ContentType="` + sheetMediaType + kind + `+xml"/>`
	}
	relation := func(id, kind, target string) string {
		return `<Relationship Id="` + id + `" Type="` + sheetRelation + "/" + kind + `" Target="` + target + `"/>`
	}
	relations := `<Relationships xmlns="` + sheetPackage + `relationships">`
	parts := []zipPart{
		{"[Content_Types].xml", `<Types xmlns="` + sheetPackage + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/>` + override("workbook.xml", "sheet.main") + override("worksheets/sheet1.xml", "worksheet") +
			override("styles.xml", "styles") + override("sharedStrings.xml", "sharedStrings") + `</Types>`},
		{"_rels/.rels", relations + relation("rId1", "officeDocument", "xl/workbook.xml") + `</Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + sheetMain + `" xmlns:r="` + sheetRelation + `"><workbookPr/><bookViews><workbookView xWindow="0" yWindow="0" windowWidth="22260" windowHeight="12645"/></bookViews>` +
			`<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets><calcPr calcId="191029"/></workbook>`},
		{"xl/_rels/workbook.xml.rels", relations + relation("rId1", "worksheet", "worksheets/sheet1.xml") + relation("rId2", "styles", "styles.xml") +
			relation("rId3", "sharedStrings", "sharedStrings.xml") + `</Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + sheetMain + `" xmlns:r="` + sheetRelation + `"><dimension ref="A1:B` + total + `"/>` +
			`<sheetViews><sheetView tabSelected="1" workbookViewId="0"/></sheetViews><sheetFormatPr defaultRowHeight="15"/>` +
			`<sheetData>` + cells + `</sheetData><pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>`},
		{"xl/styles.xml", `<styleSheet xmlns="` + sheetMain + `"><fonts count="1"><font><sz val="11"/><color theme="1"/><name val="Calibri"/><family val="2"/></font></fonts>` +
			`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
			`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
			`<cellXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>` +
			`<dxfs count="0"/><tableStyles count="0" defaultTableStyle="TableStyleMedium9" defaultPivotStyle="PivotStyleLight16"/></styleSheet>`},
		{"xl/sharedStrings.xml", fmt.Sprintf(`<sst xmlns="%s" count="%d" uniqueCount="%[2]d">%s</sst>`, sheetMain, len(texts), shared)},
	}
	for i := range parts {
		parts[i].text = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n" + parts[i].text
	}
	return zipped(parts)
}
