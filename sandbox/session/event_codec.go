package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The bounds of a decoded event. Longer texts are cut, a longer file is an error.
const (
	maxEventText = 16 << 10
	MaxEventFile = 128 << 10
)

// eventLine is the JSON form of all events.
type eventLine struct {
	members
	Data  []byte `json:"data,omitempty"`
	Ports []int  `json:"ports,omitempty"`
}

// members are those of all types that can be compared.
type members struct {
	Type     string        `json:"type"`
	Stamp    time.Duration `json:"t"`
	N        int64         `json:"n,omitempty"`
	Path     string        `json:"path,omitempty"`
	Mask     string        `json:"mask,omitempty"`
	Stream   string        `json:"stream,omitempty"`
	Code     int           `json:"code,omitempty"`
	Signal   string        `json:"signal,omitempty"`
	Gap      Code          `json:"gap,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Hint     string        `json:"hint,omitempty"`
	Realtime time.Duration `json:"realtime,omitempty"`
	Canary   string        `json:"canary,omitempty"`
	Encoding string        `json:"encoding,omitempty"`
	Network  string        `json:"network,omitempty"`
	Host     string        `json:"host,omitempty"`
	Port     int           `json:"port,omitempty"`
	Task     int           `json:"task,omitempty"`
	Call     string        `json:"call,omitempty"`
	Args     string        `json:"args,omitempty"`
	Err      string        `json:"err,omitempty"`
	Change   Change        `json:"change,omitempty"`
	Before   FileState     `json:"before,omitzero"`
	After    FileState     `json:"after,omitzero"`
	At       time.Duration `json:"at,omitempty"`
	Was      string        `json:"was,omitempty"`
	Now      string        `json:"now,omitempty"`
	Bytes    int64         `json:"bytes,omitempty"`
	Dir      bool          `json:"dir,omitempty"`
	Mode     uint32        `json:"mode,omitempty"`
}

// The types of events as they are written.
const (
	typeReady      = "ready"
	typeStarted    = "started"
	typeStdin      = "stdin"
	typeAccess     = "access"
	typeRefused    = "refused"
	typeEOF        = "eof"
	typeFound      = "found"
	typeExit       = "exit"
	typeTracerDied = "tracer-died"
	typeLoss       = "loss"
	typeLimit      = "limit"
	typeError      = "error"
	typeNote       = "note"
	typeFull       = "full"
	typeOutlived   = "outlived"
	typeSynced     = "synced"
	typeDial       = "dial"
	typePorts      = "ports"
	typeFile       = "file"
	typeChanged    = "changed"
	typeText       = "text"
	typeCompared   = "compared"
	typeLastWrite  = "last-write"
	typeDone       = "done"
	typePort       = "port"
)

func (e EventReady) line(l *eventLine) {
	l.Type, l.N, l.Realtime = typeReady, int64(e.Task), e.Realtime
}
func (e EventStarted) line(l *eventLine) { l.Type, l.N = typeStarted, int64(e.Task) }
func (e EventStdin) line(l *eventLine)   { l.Type, l.N = typeStdin, e.Delivered }
func (e EventAccess) line(l *eventLine)  { l.Type, l.Path, l.Mask = typeAccess, e.Path, e.Mask }
func (e EventRefused) line(l *eventLine) {
	l.Type, l.Task, l.Call, l.Args, l.Err, l.N = typeRefused, e.Task, e.Call, e.Args, e.Err, e.Count
}
func (e EventEOF) line(l *eventLine) { l.Type, l.Stream = typeEOF, e.Stream }
func (e EventFound) line(l *eventLine) {
	l.Type, l.Path, l.Canary, l.Encoding, l.N = typeFound, e.Path, e.Canary, e.Encoding, e.Offset
}
func (e EventExit) line(l *eventLine)       { l.Type, l.Code, l.Signal = typeExit, e.Code, e.Signal }
func (e EventTracerDied) line(l *eventLine) { l.Type, l.Reason = typeTracerDied, e.Reason }
func (e EventLoss) line(l *eventLine) {
	l.Type, l.Gap, l.N, l.Reason = typeLoss, e.Code, e.N, e.Reason
}
func (e EventLimit) line(l *eventLine)    { l.Type, l.Reason = typeLimit, e.Reason }
func (e EventError) line(l *eventLine)    { l.Type, l.Reason, l.Hint = typeError, e.Reason, e.Hint }
func (e EventNote) line(l *eventLine)     { l.Type, l.Path, l.Reason = typeNote, e.Path, e.Reason }
func (e EventFull) line(l *eventLine)     { l.Type, l.Path = typeFull, e.Path }
func (e EventOutlived) line(l *eventLine) { l.Type, l.N = typeOutlived, e.Tasks }
func (e EventSynced) line(l *eventLine)   { l.Type, l.N = typeSynced, e.N }
func (e EventDial) line(l *eventLine) {
	l.Type, l.N, l.Network, l.Host, l.Port = typeDial, e.ID, e.Network, e.Host, e.Port
}
func (e EventPorts) line(l *eventLine) { l.Type, l.N, l.Ports = typePorts, e.N, e.Ports }
func (e EventFile) line(l *eventLine) {
	l.Type, l.N, l.Path, l.Data, l.Dir, l.Mode = typeFile, e.N, e.Path, e.Data, e.Dir, e.Mode
}
func (e EventChanged) line(l *eventLine) {
	l.Type, l.Path, l.Change, l.Before, l.After, l.At = typeChanged, e.Path, e.Change, e.Before, e.After, e.At
}
func (e EventText) line(l *eventLine) { l.Type, l.Path, l.Was, l.Now = typeText, e.Path, e.Was, e.Now }
func (e EventCompared) line(l *eventLine) {
	l.Type, l.N, l.Bytes, l.Reason = typeCompared, e.Files, e.Bytes, e.Reason
}
func (e EventLastWrite) line(l *eventLine) { l.Type, l.Path, l.At = typeLastWrite, e.Path, e.At }
func (EventDone) line(l *eventLine)        { l.Type = typeDone }
func (e EventPort) line(l *eventLine)      { l.Type, l.N = typePort, int64(e.Port) }
func (e EventUnknown) line(l *eventLine)   { l.Type = e.Type }

// body is what the line says, nil for a type that is not known.
func (l *eventLine) body() Body {
	switch l.Type {
	case typeReady:
		return EventReady{Task: int(l.N), Realtime: l.Realtime}
	case typeStarted:
		return EventStarted{Task: int(l.N)}
	case typeStdin:
		return EventStdin{Delivered: l.N}
	case typeAccess:
		return EventAccess{Path: l.Path, Mask: l.Mask}
	case typeRefused:
		return EventRefused{Task: l.Task, Call: l.Call, Args: l.Args, Err: l.Err, Count: l.N}
	case typeEOF:
		return EventEOF{Stream: l.Stream}
	case typeFound:
		return EventFound{Path: l.Path, Canary: l.Canary, Encoding: l.Encoding, Offset: l.N}
	case typeExit:
		return EventExit{Code: l.Code, Signal: l.Signal}
	case typeTracerDied:
		return EventTracerDied{Reason: l.Reason}
	case typeLoss:
		return EventLoss{Code: l.Gap, N: l.N, Reason: l.Reason}
	case typeLimit:
		return EventLimit{Reason: l.Reason}
	case typeError:
		return EventError{Reason: l.Reason, Hint: l.Hint}
	case typeNote:
		return EventNote{Path: l.Path, Reason: l.Reason}
	case typeFull:
		return EventFull{Path: l.Path}
	case typeOutlived:
		return EventOutlived{Tasks: l.N}
	case typeSynced:
		return EventSynced{N: l.N}
	case typeDial:
		return EventDial{ID: l.N, Network: l.Network, Host: l.Host, Port: l.Port}
	case typePorts:
		return EventPorts{N: l.N, Ports: l.Ports}
	case typeFile:
		return EventFile{N: l.N, Path: l.Path, Data: l.Data, Dir: l.Dir, Mode: l.Mode}
	case typeChanged:
		return EventChanged{Path: l.Path, Change: l.Change, Before: l.Before, After: l.After, At: l.At}
	case typeText:
		return EventText{Path: l.Path, Was: l.Was, Now: l.Now}
	case typeCompared:
		return EventCompared{Files: l.N, Bytes: l.Bytes, Reason: l.Reason}
	case typeLastWrite:
		return EventLastWrite{Path: l.Path, At: l.At}
	case typeDone:
		return EventDone{}
	case typePort:
		return EventPort{Port: int(l.N)}
	}
	return nil
}

// EncodeEvent is an event's JSON form, as DecodeEvent reads it.
func EncodeEvent(e Event) ([]byte, error) {
	if u, ok := e.Body.(EventUnknown); ok {
		return u.Raw, nil
	}
	if e.Body == nil {
		return nil, errors.New("encode an event: it is empty")
	}
	l := eventLine{members: members{Stamp: e.Stamp}}
	e.Body.line(&l)
	b, err := json.Marshal(&l)
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", l.Type, err)
	}
	return b, nil
}

// DecodeEvent reads an event that an agent sent or that stands in a log. It
// believes nothing: of a type that it knows, a member of another type, an unknown
// one and a negative number are errors, and so is what follows the event; texts
// are cut to a bound. A type that it does not know gives an EventUnknown, which
// keeps a copy of p.
func DecodeEvent(p []byte) (Event, error) {
	var l eventLine
	d := json.NewDecoder(bytes.NewReader(p))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		if e, ok := unknownEvent(p); ok {
			return e, nil
		}
		return Event{}, fmt.Errorf("decode the agent's event: %w", err)
	}
	if len(bytes.TrimSpace(p[d.InputOffset():])) > 0 {
		return Event{}, errors.New("decode the agent's event: more follows it")
	}
	if l.Stamp < 0 || l.N < 0 || l.Task < 0 || l.At < 0 || l.Bytes < 0 || l.Before.Size < 0 || l.After.Size < 0 {
		return Event{}, fmt.Errorf("the agent's %.40q event has a negative number", l.Type)
	}
	if len(l.Data) > MaxEventFile {
		return Event{}, fmt.Errorf("the agent's %.40q event holds %d bytes", l.Type, len(l.Data))
	}
	if slices.ContainsFunc(l.Ports, func(p int) bool { return p < 1 || p > 65535 }) {
		return Event{}, fmt.Errorf("the agent's %.40q event has an invalid port", l.Type)
	}
	if !l.Before.digested() || !l.After.digested() {
		return Event{}, fmt.Errorf("the agent's %.40q event has an invalid digest", l.Type)
	}
	l.cut()
	body := l.body()
	if body == nil {
		e, _ := unknownEvent(p)
		return e, nil
	}
	again := eventLine{members: members{Stamp: l.Stamp}}
	if body.line(&again); again.members != l.members || !bytes.Equal(again.Data, l.Data) || !slices.Equal(again.Ports, l.Ports) {
		return Event{}, fmt.Errorf("the agent's %.40q event has a member of another type", l.Type)
	}
	return Event{Stamp: l.Stamp, Body: body}, nil
}

// unknownEvent reads an event of which only the head need be known; ok is false
// for what is none, or of a type that is known.
func unknownEvent(p []byte) (e Event, ok bool) {
	var head struct {
		Type  string        `json:"type"`
		Stamp time.Duration `json:"t"`
	}
	if json.Unmarshal(p, &head) != nil || head.Stamp < 0 || (&eventLine{members: members{Type: head.Type}}).body() != nil {
		return Event{}, false
	}
	head.Type = head.Type[:min(len(head.Type), maxEventText)]
	return Event{Stamp: head.Stamp, Body: EventUnknown{Type: head.Type, Raw: bytes.Clone(p)}}, true
}

// digested reports whether a state's digest is one, or missing.
func (s *FileState) digested() bool {
	return s.SHA256 == "" || len(s.SHA256) == 2*sha256.Size && strings.Trim(s.SHA256, "0123456789abcdef") == ""
}

// cut bounds the texts.
func (l *eventLine) cut() {
	l.Gap, l.Change = l.Gap[:min(len(l.Gap), maxEventText)], l.Change[:min(len(l.Change), maxEventText)]
	for _, f := range []*FileState{&l.Before, &l.After} {
		f.Kind, f.Link = f.Kind[:min(len(f.Kind), maxEventText)], f.Link[:min(len(f.Link), maxEventText)]
	}
	for _, s := range []*string{&l.Type, &l.Path, &l.Mask, &l.Stream, &l.Signal, &l.Reason, &l.Hint, &l.Canary, &l.Encoding, &l.Network, &l.Host, &l.Call, &l.Args, &l.Err, &l.Was, &l.Now} {
		*s = (*s)[:min(len(*s), maxEventText)]
	}
}
