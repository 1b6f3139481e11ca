package javascript

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// printed writes a tree in one line: (Type field:value …), without what is empty and
// without places. A Name is its ID, a Const its text, quoted where it is a String.
func printed(n any) string {
	var b strings.Builder
	printNode(&b, reflect.ValueOf(n))
	return b.String()
}

func printNode(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		printNode(b, v.Elem())
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(' ')
			}
			printNode(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.String:
		b.WriteString(v.String())
	case reflect.Struct:
		printStruct(b, v)
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func printStruct(b *strings.Builder, v reflect.Value) {
	switch n := v.Interface().(type) {
	case lang.Name:
		b.WriteString(n.ID)
		return
	case lang.Const:
		switch n.Kind {
		case lang.String:
			fmt.Fprintf(b, "%q", n.Text)
		case lang.Regexp:
			b.WriteString(n.Text)
		case lang.Null:
			b.WriteString("null")
		default:
			b.WriteString(n.Text)
		}
		return
	case lang.ExprStmt:
		printNode(b, reflect.ValueOf(n.X))
		return
	case lang.Arg:
		if n.Name == "" {
			printNode(b, reflect.ValueOf(n.Value))
			return
		}
	case lang.Item:
		if n.Key == nil {
			printNode(b, reflect.ValueOf(n.Value))
			return
		}
	}
	b.WriteString("(" + v.Type().Name())
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		if f.Name == "Span" || value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0 || f.Name == "Op" && value.String() == "=" {
			continue
		}
		b.WriteByte(' ')
		switch value.Kind() {
		case reflect.Bool:
			b.WriteString(strings.ToLower(f.Name))
		case reflect.String:
			b.WriteString(value.String())
		default:
			b.WriteString(strings.ToLower(f.Name) + ":")
			printNode(b, value)
		}
	}
	b.WriteByte(')')
}
