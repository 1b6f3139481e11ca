package taint

import (
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// exit notes what holds where the function returns x.
func (f *frame) exit(x lang.Expr) {
	f.out.returned = true
	var whenTrue, whenFalse []check
	isTrue, isFalse := truth(x)
	if f.src.Language == "Go" && failed(x) {
		isTrue = true // an error: what no error means is not asked
	}
	if x != nil && !isTrue && !isFalse {
		whenTrue, whenFalse = f.implied(x, true), f.implied(x, false)
	}
	for i, p := range f.fn.Function.Params {
		now := class(0)
		if v, ok := f.env.get(p.Name); ok && p.Name != "" && v.tainted() {
			now = v.sure()
		}
		f.out.gains[i] &= now
		if !isFalse {
			f.out.yes[i] &= now | of(whenTrue, p.Name)
		}
		if !isTrue {
			f.out.no[i] &= now | of(whenFalse, p.Name)
		}
	}
}

// failed reports whether the last result is an error that is made here.
func failed(x lang.Expr) bool {
	if c, ok := x.(lang.Collection); ok && len(c.Items) > 0 {
		x = c.Items[len(c.Items)-1].Value
	}
	c, ok := x.(lang.Call)
	if !ok {
		return false
	}
	name := lastOf(c.Func)
	return name == "New" || name == "Errorf" || name == "Join" || strings.HasSuffix(name, "Error")
}

func of(list []check, key string) class {
	c := class(0)
	for _, k := range list {
		if k.key == key {
			c |= k.safe
		}
	}
	return c
}

// truth reports whether an expression is constantly true, or false, null or no error.
func truth(x lang.Expr) (isTrue, isFalse bool) {
	switch x := x.(type) {
	case nil:
		return false, true
	case lang.Const:
		switch x.Kind {
		case lang.Bool:
			return x.Text == "true", x.Text == "false"
		case lang.Null:
			return false, true
		}
	case lang.Call, *lang.Function: // an error that is made
		return false, false
	case lang.Collection:
		if x.Kind == lang.Tuple && len(x.Items) > 0 { // of Go: the error is the last
			return truth(x.Items[len(x.Items)-1].Value)
		}
	}
	return false, false
}
