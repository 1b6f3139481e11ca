package custom

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// objectType is a struct of the ledger as expressions see it.
type objectType struct {
	name   string // "Effect"
	goType reflect.Type
	cel    *types.Type
	fields []field
}

// field is a member of an objectType; its place in the list is that in the Go struct.
type field struct {
	name, doc, enum, constant string
	optional                  bool
	cel                       *types.Type
	// of is the type of a member that is an object or a list of objects, nil otherwise.
	of   *objectType
	list bool
}

// typesOf are the types of the ledger by their Go types. They are made on first use:
// most commands evaluate nothing.
var typesOf = sync.OnceValue(func() map[reflect.Type]*objectType {
	all := map[reflect.Type]*objectType{}
	describe(reflect.TypeFor[Ledger](), all)
	return all
})

// typeOf is the type of a collection's entries.
func typeOf(c Collection) *objectType {
	t := map[Collection]reflect.Type{Effects: reflect.TypeFor[Effect](), Claims: reflect.TypeFor[Claim](), Calls: reflect.TypeFor[Call](), Findings: reflect.TypeFor[Finding]()}[c]
	return typesOf()[t]
}

// describe reads the tags of a struct and of those within it.
func describe(t reflect.Type, all map[reflect.Type]*objectType) *objectType {
	if o, ok := all[t]; ok {
		return o
	}
	o := &objectType{name: t.Name(), goType: t, cel: types.NewObjectType("coalmine." + t.Name())}
	all[t] = o
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		f := field{name: name, doc: sf.Tag.Get("doc"), enum: sf.Tag.Get("enum"), constant: sf.Tag.Get("const"), optional: options != ""}
		at := sf.Type
		if f.list = at.Kind() == reflect.Slice; f.list {
			at = at.Elem()
		}
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.String:
			f.cel = types.StringType
		case reflect.Int:
			f.cel = types.IntType
		case reflect.Bool:
			f.cel = types.BoolType
		case reflect.Map:
			f.cel = types.NewMapType(types.StringType, types.DynType)
		default:
			f.of = describe(at, all)
			f.cel = f.of.cel
		}
		if f.list {
			f.cel = types.NewListType(f.cel)
		}
		o.fields = append(o.fields, f)
	}
	return o
}

func (t *objectType) field(name string) int {
	return slices.IndexFunc(t.fields, func(f field) bool { return f.name == name })
}

// zero is the value of a member that is absent.
func (f *field) zero() ref.Val {
	switch {
	case f.list:
		return types.NewRefValList(types.DefaultTypeAdapter, nil)
	case f.of != nil:
		return &object{of: f.of}
	}
	switch f.cel {
	case types.StringType:
		return types.String("")
	case types.IntType:
		return types.Int(0)
	case types.BoolType:
		return types.False
	}
	return types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{})
}
