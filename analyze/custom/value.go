package custom

import (
	"fmt"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// object is an entry, or what stands in one, as a value of an expression.
type object struct {
	of *objectType
	// fields are the members in the order of the type's, nil for one that is absent.
	fields []ref.Val
}

func (o *object) get(i int) ref.Val {
	if v := o.at(i); v != nil {
		return v
	}
	return o.of.fields[i].zero()
}

func (o *object) at(i int) ref.Val {
	if i >= len(o.fields) {
		return nil
	}
	return o.fields[i]
}

// ConvertToNative implements ref.Val: nothing outside asks for it.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s is not made a %s", o.of.name, t)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t.TypeName() {
	case types.TypeType.TypeName():
		return o.of.cel
	case o.of.cel.TypeName():
		return o
	}
	return types.NewErr("%s is not made a %s", o.of.name, t.TypeName())
}

// Equal implements ref.Val: two are equal if all their members are.
func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	if !ok || p.of != o.of {
		return types.False
	}
	for i := range o.of.fields {
		if o.at(i) == nil && p.at(i) == nil {
			continue
		}
		if o.get(i).Equal(p.get(i)) != types.True {
			return types.False
		}
	}
	return types.True
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.of.cel }

// Value implements ref.Val.
func (o *object) Value() any { return o }

// values makes values of entries. What two of them point to is made once.
type values map[any]*object

// of is a pointer to a struct of the ledger as a value.
func (vs values) of(pointer reflect.Value) *object {
	key := pointer.Interface()
	if o, ok := vs[key]; ok {
		return o
	}
	v := pointer.Elem()
	o := &object{of: typesOf()[v.Type()]}
	vs[key] = o
	o.fields = make([]ref.Val, v.NumField())
	for i := range o.fields {
		if !v.Field(i).IsZero() {
			o.fields[i] = vs.value(v.Field(i))
		}
	}
	return o
}

func (vs values) value(v reflect.Value) ref.Val {
	switch v.Kind() {
	case reflect.String:
		return types.String(v.String())
	case reflect.Int:
		return types.Int(v.Int())
	case reflect.Bool:
		return types.Bool(v.Bool())
	case reflect.Slice:
		list := make([]ref.Val, v.Len())
		for i := range list {
			list[i] = vs.value(v.Index(i))
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list)
	case reflect.Map:
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, v.Interface().(map[string]any))
	default: // a pointer
		if v.Type().Elem().Kind() == reflect.Bool {
			return types.Bool(v.Elem().Bool())
		}
		return vs.of(v)
	}
}

// provider tells the checker of the ledger's types.
type provider struct{ types.Provider }

func find(name string) *objectType {
	for _, t := range typesOf() {
		if t.cel.TypeName() == name {
			return t
		}
	}
	return nil
}

// FindStructType implements types.Provider.
func (p provider) FindStructType(name string) (*types.Type, bool) {
	if t := find(name); t != nil {
		return types.NewTypeTypeWithParam(t.cel), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	t := find(name)
	if t == nil {
		return p.Provider.FindStructFieldNames(name)
	}
	var out []string
	for _, f := range t.fields {
		out = append(out, f.name)
	}
	return out, true
}

// FindStructFieldType implements types.Provider.
func (p provider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	t := find(name)
	if t == nil {
		return p.Provider.FindStructFieldType(name, member)
	}
	i := t.field(member)
	if i < 0 {
		return nil, false
	}
	return &types.FieldType{
		Type: t.fields[i].cel,
		IsSet: func(v any) bool {
			o, ok := v.(*object)
			return ok && o.at(i) != nil
		},
		GetFrom: func(v any) (any, error) {
			if o, ok := v.(*object); ok {
				return o.get(i), nil
			}
			return nil, fmt.Errorf("%s is asked of what is no %s", member, t.name)
		},
	}, true
}
