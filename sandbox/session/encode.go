package session

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// appendWall appends a time as glassport writes it: UTC with an offset, in
// microseconds, which are left out when they are zero.
func appendWall(b []byte, t time.Time) []byte {
	t = t.UTC()
	if t.Nanosecond() < 1000 {
		return t.AppendFormat(b, "2006-01-02T15:04:05+00:00")
	}
	return t.AppendFormat(b, "2006-01-02T15:04:05.000000+00:00")
}

// appendFrame appends a line of session.jsonl without its end.
func appendFrame(b []byte, seq uint64, ts time.Time, d Dir, text []byte, isJSON bool) []byte {
	b = append(b, `{"schema_version": "0.1", "seq": `...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `, "ts": "`...)
	b = appendWall(b, ts)
	b = append(b, `", "dir": `...)
	b = appendString(b, []byte(d))
	if isJSON {
		b = append(b, `, "frame": `...)
		b = appendValue(b, text)
		return append(b, `, "raw": null}`...)
	}
	b = append(b, `, "frame": null, "raw": `...)
	b = appendString(b, text)
	return append(b, '}')
}

// appendMetrics appends the last line of session.jsonl, with its end.
func appendMetrics(b []byte, ts time.Time, seen uint64, blocked int64, took time.Duration, size int64) []byte {
	b = append(b, `{"type": "glassport.metrics", "ts": "`...)
	b = appendWall(b, ts)
	b = append(b, `", "frames_seen": `...)
	b = strconv.AppendUint(b, seen, 10)
	b = append(b, `, "frames_blocked": `...)
	b = strconv.AppendInt(b, blocked, 10)
	b = append(b, `, "session_duration_s": `...)
	seconds := math.Round(took.Seconds()*1000) / 1000
	b = strconv.AppendFloat(b, seconds, 'f', -1, 64)
	if seconds == math.Trunc(seconds) {
		b = append(b, ".0"...)
	}
	b = append(b, `, "log_bytes": `...)
	b = strconv.AppendInt(b, size, 10)
	return append(b, "}\n"...)
}

// appendFrameMark is appendMark for the mark that every frame has.
func appendFrameMark(b []byte, stamp time.Duration, seq uint64) []byte {
	b = append(b, `{"type":"mark","t":`...)
	b = strconv.AppendInt(b, int64(stamp), 10)
	b = append(b, `,"kind":"frame","seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	return append(b, '}')
}

// appendMark appends a mark's line of trace.jsonl without its end. A payload that
// is too long or no JSON is cut, and stands in the text.
func appendMark(b []byte, m Mark) []byte {
	payload, err := m.payload()
	if err == nil && len(payload) <= maxText {
		line, err := json.Marshal(markLine{Type: "mark", Mark: m, Payload: payload})
		if err == nil {
			return append(b, line...)
		}
	}
	m.Text = cut(string(payload))
	m.Event, m.Dialled, m.Inputs, m.Unread = nil, nil, nil, nil
	return appendMark(b, m)
}

// maxOracles bounds the injections of one call, and the calls that it learned from.
const maxOracles = 64

// bound cuts what a hostile server may have a say in.
func (m *Mark) bound() {
	m.Text, m.Tool, m.What = cut(m.Text), cut(m.Tool), cut(m.What)
	m.Data = m.Data[:min(len(m.Data), maxText)]
	m.Oracles = m.Oracles[:min(len(m.Oracles), maxOracles)]
	m.From = m.From[:min(len(m.From), maxOracles)]
}

func cut(s string) string {
	if len(s) > maxText {
		return s[:maxText]
	}
	return s
}

// appendRecord appends a record's line of trace.jsonl without its end: what
// encoding/json makes of trace.Record, many times faster.
func appendRecord(b []byte, r *trace.Record) []byte {
	b = append(b, `{"type":"record","seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = appendInt(b, `,"t":`, int64(r.Time))
	b = appendInt(b, `,"tid":`, int64(r.Tid))
	b = appendMember(b, `,"call":`, r.Call, true)
	b = appendMember(b, `,"op":`, string(r.Op), true)
	b = appendMember(b, `,"path":`, r.Path, false)
	b = appendMember(b, `,"given":`, r.Given, false)
	b = appendTrue(b, `,"real":true`, r.Real)
	b = appendMember(b, `,"to":`, r.To, false)
	b = appendList(b, `,"argv":[`, r.Argv)
	b = appendMember(b, `,"cwd":`, r.Cwd, false)
	b = appendMember(b, `,"exe":`, r.Exe, false)
	b = appendTrue(b, `,"script":true`, r.Script)
	b = appendList(b, `,"passed":[`, r.Passed)
	b = appendMember(b, `,"flags":`, r.Flags, false)
	if a := r.Addr; a != nil {
		b = appendMember(b, `,"addr":{"family":`, a.Family, true)
		b = appendMember(b, `,"host":`, a.Host, false)
		if a.Port != 0 {
			b = appendInt(b, `,"port":`, int64(a.Port))
		}
		b = append(b, '}')
	}
	b = appendInt(b, `,"fd":`, int64(r.FD))
	if r.Child != 0 {
		b = appendInt(b, `,"child":`, int64(r.Child))
	}
	if r.Pid != 0 {
		b = appendInt(b, `,"pid":`, int64(r.Pid))
	}
	b = appendInt(b, `,"ret":`, r.Ret)
	b = appendMember(b, `,"err":`, r.Err, false)
	b = appendTrue(b, `,"injected":true`, r.Injected)
	b = appendTrue(b, `,"unfinished":true`, r.Unfinished)
	return append(b, '}')
}

func appendList(b []byte, key string, list []string) []byte {
	for i, a := range list {
		if i == 0 {
			b = append(b, key...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, []byte(a))
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendMember(b []byte, name, value string, always bool) []byte {
	if value == "" && !always {
		return b
	}
	return appendString(append(b, name...), []byte(value))
}

func appendTrue(b []byte, member string, set bool) []byte {
	if !set {
		return b
	}
	return append(b, member...)
}
