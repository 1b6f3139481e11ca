package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	yamlStrict "sigs.k8s.io/yaml"
)

// openAPI is the variable that names Kubernetes' own swagger.json. With it, a document is also
// held against the schema of its kind, as kubeconform and the API server hold it: a member that is missing
// or of another type is an error, too.
const openAPI = "KUBE_OPENAPI"

// schemas are the definitions of an API, by group, version and kind.
type schemas struct {
	all   *jsonschema.Compiler
	names map[string]string
}

// The names of types that JSON has in more than one form.
const (
	intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
)

func readSchemas() (*schemas, error) {
	file := os.Getenv(openAPI)
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &schemas{all: jsonschema.NewCompiler(), names: map[string]string{}}
	for name, d := range doc.Definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		for _, k := range kinds {
			if k, ok := k.(map[string]any); ok {
				s.names[fmt.Sprintf("%v/%v/%v", k["group"], k["version"], k["kind"])] = name
			}
		}
		closed(d)
	}
	doc.Definitions[intOrString] = map[string]any{"type": []any{"integer", "string"}}
	doc.Definitions[quantity] = map[string]any{"type": []any{"number", "string"}}
	// The compiler takes values as it reads them itself.
	text, err := json.Marshal(map[string]any{"definitions": doc.Definitions})
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return s, s.all.AddResource("https://kubernetes.example/api.json", value)
}

// closed lets an object have the members of its properties alone.
func closed(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			closed(e)
		}
	case map[string]any:
		if _, lists := v["properties"].(map[string]any); lists && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closed(e)
		}
	}
}

// check validates a document by the schema of its kind.
func (s *schemas) check(apiVersion, kind string, text []byte) error {
	if s == nil {
		return nil
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	name := s.names[group+"/"+version+"/"+kind]
	if name == "" {
		return fmt.Errorf("the API has no %s of %s", kind, apiVersion)
	}
	schema, err := s.all.Compile("https://kubernetes.example/api.json#/definitions/" + name)
	if err != nil {
		return err
	}
	plain, err := yamlStrict.YAMLToJSON(text)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
