package synth

import (
	"fmt"
	"strings"
)

// slides is a presentation of one slide with a title. A program that shows it asks also for a master, a
// layout and a theme (ECMA-376 part 1, 13.3).
func slides(title string) []zipPart {
	const (
		head      = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
		main      = "http://schemas.openxmlformats.org/presentationml/2006/main"
		drawing   = "http://schemas.openxmlformats.org/drawingml/2006/main"
		rel       = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		packs     = "http://schemas.openxmlformats.org/package/2006/"
		mediaType = "application/vnd.openxmlformats-officedocument."
		names     = ` xmlns:a="` + drawing + `" xmlns:r="` + rel + `" xmlns:p="` + main + `"`
		group     = `<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>`
		colours   = ` bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"`
	)
	override := func(part, kind string) string {
		return `<Override PartName="/ppt/` + part + `" ContentType="` + mediaType + kind + `+xml"/>`
	}
	relations := func(of ...[2]string) string {
		out := head + `<Relationships xmlns="` + packs + `relationships">`
		for i, r := range of {
			out += fmt.Sprintf(`<Relationship Id="rId%d" Type="%s/%s" Target="%s"/>`, i+1, rel, r[0], r[1])
		}
		return out + `</Relationships>`
	}
	text := `<p:sp><p:nvSpPr><p:cNvPr id="2" name="Title 1"/><p:cNvSpPr/><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></p:txBody></p:sp>`
	tree := func(inner string) string { return `<p:cSld><p:spTree>` + group + inner + `</p:spTree></p:cSld>` }
	const mapping = `<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>`
	return []zipPart{
		{"[Content_Types].xml", head + `<Types xmlns="` + packs + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/>` + override("presentation.xml", "presentationml.presentation.main") + override("slides/slide1.xml", "presentationml.slide") +
			override("slideMasters/slideMaster1.xml", "presentationml.slideMaster") + override("slideLayouts/slideLayout1.xml", "presentationml.slideLayout") + override("theme/theme1.xml", "theme") + `</Types>`},
		{"_rels/.rels", relations([2]string{"officeDocument", "ppt/presentation.xml"})},
		{"ppt/presentation.xml", head + `<p:presentation` + names + `><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst><p:sldId id="256" r:id="rId2"/></p:sldIdLst>` +
			`<p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`},
		{"ppt/_rels/presentation.xml.rels", relations([2]string{"slideMaster", "slideMasters/slideMaster1.xml"}, [2]string{"slide", "slides/slide1.xml"}, [2]string{"theme", "theme/theme1.xml"})},
		{"ppt/slides/slide1.xml", head + `<p:sld` + names + `>` + tree(text) + mapping + `</p:sld>`},
		{"ppt/slides/_rels/slide1.xml.rels", relations([2]string{"slideLayout", "../slideLayouts/slideLayout1.xml"})},
		{"ppt/slideLayouts/slideLayout1.xml", head + `<p:sldLayout` + names + ` type="titleOnly">` + tree("") + mapping + `</p:sldLayout>`},
		{"ppt/slideLayouts/_rels/slideLayout1.xml.rels", relations([2]string{"slideMaster", "../slideMasters/slideMaster1.xml"})},
		{"ppt/slideMasters/slideMaster1.xml", head + `<p:sldMaster` + names + `>` + tree("") + `<p:clrMap` + colours + `/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`},
		{"ppt/slideMasters/_rels/slideMaster1.xml.rels", relations([2]string{"slideLayout", "../slideLayouts/slideLayout1.xml"}, [2]string{"theme", "../theme/theme1.xml"})},
		{"ppt/theme/theme1.xml", head + theme(drawing)},
	}
}

// theme is the least that a theme has: colours, fonts, and three of each format.
func theme(namespace string) string {
	colours := ""
	for i, name := range []string{"dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"} {
		value := []string{"000000", "FFFFFF", "44546A", "E7E6E6", "4472C4", "ED7D31", "A5A5A5", "FFC000", "5B9BD5", "70AD47", "0563C1", "954F72"}[i]
		colours += "<a:" + name + `><a:srgbClr val="` + value + `"/></a:` + name + ">"
	}
	font := func(name string) string {
		return "<a:" + name + `><a:latin typeface="Calibri"/><a:ea typeface=""/><a:cs typeface=""/></a:` + name + ">"
	}
	three := func(list, one string) string {
		return "<a:" + list + ">" + strings.Repeat(one, 3) + "</a:" + list + ">"
	}
	fill := `<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>`
	return `<a:theme xmlns:a="` + namespace + `" name="Office"><a:themeElements><a:clrScheme name="Office">` + colours + `</a:clrScheme>` +
		`<a:fontScheme name="Office">` + font("majorFont") + font("minorFont") + `</a:fontScheme><a:fmtScheme name="Office">` +
		three("fillStyleLst", fill) + three("lnStyleLst", `<a:ln w="9525">`+fill+`</a:ln>`) +
		three("effectStyleLst", `<a:effectStyle><a:effectLst/></a:effectStyle>`) + three("bgFillStyleLst", fill) + `</a:fmtScheme></a:themeElements></a:theme>`
}
