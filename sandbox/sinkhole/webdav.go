package sinkhole

import (
	"bytes"
	"encoding/xml"
	"net/http"
	"strings"
)

const statusMulti = http.StatusMultiStatus

// event and contact are what a calendar and an address book hold (RFC 5545, RFC 6350).
const (
	event = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\nBEGIN:VEVENT\r\nUID:1024@example.com\r\nDTSTAMP:20260112T080000Z\r\n" +
		"DTSTART:20260314T093000Z\r\nDTEND:20260314T103000Z\r\nSUMMARY:Garden meeting\r\nLOCATION:Leeds\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	contact = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:1024@example.com\r\nN:Morgan;Alex;;;\r\nFN:Alex Morgan\r\nEMAIL:alex.morgan@example.com\r\nEND:VCARD\r\n"
)

// webDAV is the answer of a store of files, calendars and contacts (RFC 4918, RFC 4791, RFC 6352) to a question of its
// own methods, false for another. body is the beginning of the request's.
func webDAV(r *http.Request, body []byte) (page, bool) {
	dir := r.URL.EscapedPath()
	contacts := bytes.Contains(body, []byte("addressbook")) || strings.Contains(dir, "addressbook") || strings.Contains(dir, "contacts")
	var out string
	switch r.Method {
	case "PROPFIND":
		out = collectionOf(dir, contacts)
		if r.Header.Get("Depth") != "0" {
			out += memberOf(dir, contacts, false)
		}
	case "REPORT":
		out = memberOf(dir, contacts, true)
	case "MKCOL", "MKCALENDAR", "COPY", "MOVE":
		return page{status: http.StatusCreated}, true
	default:
		return page{}, false
	}
	return page{status: statusMulti, kind: `application/xml; charset="utf-8"`, body: `<?xml version="1.0" encoding="utf-8"?>` + "\n" +
		`<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:card="urn:ietf:params:xml:ns:carddav" xmlns:cs="http://calendarserver.org/ns/">` + out + "</d:multistatus>\n"}, true
}

// davResponse is the answer for one place.
func davResponse(href, properties string) string {
	var escaped bytes.Buffer
	_ = xml.EscapeText(&escaped, []byte(href)) // a buffer takes all
	return "<d:response><d:href>" + escaped.String() + "</d:href><d:propstat><d:prop>" + properties + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
}

func collectionOf(dir string, contacts bool) string {
	kind, name := "<c:calendar/>", "Home"
	if contacts {
		kind, name = "<card:addressbook/>", "Contacts"
	}
	const principal = "<d:href>/principals/users/sam/</d:href>"
	return davResponse(dir, "<d:displayname>"+name+"</d:displayname><d:resourcetype><d:collection/>"+kind+"</d:resourcetype><d:getetag>\"1\"</d:getetag>"+
		"<d:getlastmodified>Mon, 12 Jan 2026 08:00:00 GMT</d:getlastmodified><d:current-user-principal>"+principal+"</d:current-user-principal>"+
		"<c:calendar-home-set><d:href>/calendars/sam/</d:href></c:calendar-home-set><card:addressbook-home-set><d:href>/contacts/sam/</d:href></card:addressbook-home-set>"+
		`<c:supported-calendar-component-set><c:comp name="VEVENT"/><c:comp name="VTODO"/></c:supported-calendar-component-set><cs:getctag>1</cs:getctag><d:sync-token>http://example.com/sync/1</d:sync-token>`)
}

func memberOf(dir string, contacts, whole bool) string {
	name, kind, data := "1024.ics", "text/calendar; component=vevent", "<c:calendar-data>"+event+"</c:calendar-data>"
	if contacts {
		name, kind, data = "1024.vcf", "text/vcard", "<card:address-data>"+contact+"</card:address-data>"
	}
	properties := "<d:displayname>" + name + "</d:displayname><d:resourcetype/><d:getetag>\"1\"</d:getetag><d:getcontenttype>" + kind +
		"</d:getcontenttype><d:getcontentlength>320</d:getcontentlength><d:getlastmodified>Mon, 12 Jan 2026 08:00:00 GMT</d:getlastmodified>"
	if whole {
		properties += data
	}
	return davResponse(strings.TrimSuffix(dir, "/")+"/"+name, properties)
}
