package tracetest

import (
	"reflect"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// stream is a run with a value in every field of a record.
func stream() []trace.Record {
	full := trace.Record{
		Seq: 3, Time: 3 * time.Second, Tid: 12, Call: "openat", Op: trace.OpOpen, Path: "/a", Given: "a", Real: true, To: "/b",
		Argv: []string{"x"}, Flags: "O_RDONLY", Addr: &trace.Addr{Family: "inet", Host: "127.0.0.1", Port: 80}, FD: 3, Pid: 12,
		Ret: 3, Err: "EIO", Injected: true, Unfinished: true,
	}
	return []trace.Record{
		{Seq: 1, Time: time.Second, Tid: 10, Call: "execve", Op: trace.OpExec, Path: "/bin/x", FD: -1},
		{Seq: 2, Time: 2 * time.Second, Tid: 10, Call: "clone", Op: trace.OpFork, Child: 12, Ret: 12, FD: -1},
		full,
	}
}

// corrupt changes a value into another of its kind.
func corrupt(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "!")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() {
			v.SetInt(int64(time.Hour))
			return
		}
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Slice:
		v.Set(reflect.ValueOf([]string{"y"}))
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.ValueOf(new(trace.Addr)))
		} else {
			v.Set(reflect.Zero(v.Type()))
		}
	}
}

// Any one field of either stream that is not as it should be is a difference.
func TestAnyCorruptionIsSeen(t *testing.T) {
	if d := Diff(stream(), stream(), nil, nil); d != "" {
		t.Fatal(d)
	}
	for i := range stream() {
		for f := range reflect.TypeFor[trace.Record]().NumField() {
			bad := stream()
			corrupt(reflect.ValueOf(&bad[i]).Elem().Field(f))
			name := reflect.TypeFor[trace.Record]().Field(f).Name
			if Diff(stream(), bad, nil, nil) == "" || Diff(bad, stream(), nil, nil) == "" {
				t.Errorf("record %d: %s was changed and nothing differs", i, name)
			}
		}
	}
	for f := range reflect.TypeFor[trace.Addr]().NumField() {
		bad := stream()
		corrupt(reflect.ValueOf(bad[2].Addr).Elem().Field(f))
		if Diff(stream(), bad, nil, nil) == "" {
			t.Errorf("field %d of the address was changed and nothing differs", f)
		}
	}
	if Diff(stream(), stream()[:2], nil, nil) == "" {
		t.Error("a record less is no difference")
	}
}

// The file that runs is told of each exec that succeeded, and of nothing else.
func TestCommon(t *testing.T) {
	told := func(change func([]trace.Record)) []trace.Record {
		s := stream()
		s[0].Exe, s[0].Script = "/bin/sh", true
		change(s)
		return s
	}
	both, err := Common(told(func([]trace.Record) {}))
	if err != nil || Diff(stream(), both, nil, nil) != "" {
		t.Errorf("%v: %s", err, Diff(stream(), both, nil, nil))
	}
	for name, change := range map[string]func([]trace.Record){
		"an exec without it":    func(s []trace.Record) { s[0].Exe = "" },
		"an exec that failed":   func(s []trace.Record) { s[0].Err = "ENOENT" },
		"no exec":               func(s []trace.Record) { s[1].Exe = "/bin/sh" },
		"a script but no exec":  func(s []trace.Record) { s[1].Script = true },
		"a script that has not": func(s []trace.Record) { s[0].Exe, s[0].Op = "", trace.OpFork },
	} {
		if _, err := Common(told(change)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What two runs never share is no difference.
func TestWhatTheKernelChooses(t *testing.T) {
	a, b := stream(), stream()
	for i := range b {
		b[i].Tid += 100
		b[i].Time += time.Millisecond
	}
	b[1].Child, b[1].Ret, b[2].Pid = 112, 112, 112
	a[2].Path, b[2].Path = "socket:[5]", "socket:[9]"
	a[2].Addr.Port, b[2].Addr.Port = 40001, 50001
	a[0].Path, b[0].Path = "/tmp/1/x", "/tmp/2/x"
	if d := Diff(a, b, []string{"/tmp/1", "/T"}, []string{"/tmp/2", "/T"}); d != "" {
		t.Error(d)
	}
}
