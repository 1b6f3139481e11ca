// The program kube-check decodes Kubernetes manifests and the output of Helm charts strictly: a
// member that the API does not have is an error. KUBE_OPENAPI names the API's own description, by which
// they are validated then. It asks no cluster and no network.
//
// Each argument is a manifest, or the directory of a chart, which is rendered with its default
// values and with those of each file in its directory "ci".
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	yamlStrict "sigs.k8s.io/yaml"
)

func main() {
	right, all := 0, 0
	s, err := readSchemas()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, name := range os.Args[1:] {
		docs, err := documents(name)
		if err != nil {
			all++
			fmt.Printf("%s: WRONG: %v\n", name, err)
			continue
		}
		for _, d := range docs {
			all++
			kind, err := check(s, d.text)
			if err != nil {
				fmt.Printf("%s: WRONG: %v\n", d.from, err)
				continue
			}
			right++
			fmt.Printf("%s: %s: right\n", d.from, kind)
		}
	}
	fmt.Printf("deploy: %d/%d\n", right, all)
	if right != all || all == 0 {
		os.Exit(1)
	}
}

type document struct {
	from string
	text []byte
}

func documents(name string) ([]document, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return split(name, data)
	}
	values, err := filepath.Glob(filepath.Join(name, "ci", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out []document
	for _, file := range append([]string{""}, values...) {
		list, err := render(name, file)
		if err != nil {
			return nil, fmt.Errorf("values %q: %w", file, err)
		}
		out = append(out, list...)
	}
	return out, nil
}

func render(dir, file string) ([]document, error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	if err := chart.Validate(); err != nil {
		return nil, err
	}
	given := map[string]any{}
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := yamlStrict.UnmarshalStrict(data, &given); err != nil {
			return nil, err
		}
	}
	values, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{Name: "coalmine", Namespace: "coalmine", IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	made, err := engine.Engine{Strict: true}.Render(chart, values)
	if err != nil {
		return nil, err
	}
	var out []document
	var names []string
	for name := range made {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		list, err := split(name+" ("+filepath.Base(file)+")", []byte(made[name]))
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func split(from string, data []byte) ([]document, error) {
	r := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(data)))
	defer r.Close()
	var out []document
	for {
		buf := make([]byte, 1<<20)
		n, err := r.Read(buf)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var v any
		if err := yamlStrict.Unmarshal(buf[:n], &v); err != nil {
			return nil, err
		}
		if v != nil {
			out = append(out, document{from, buf[:n]})
		}
	}
}

// check decodes one document: by the API's types, or by those of KEDA that stand here.
func check(s *schemas, text []byte) (string, error) {
	var head struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
	}
	if err := yamlStrict.Unmarshal(text, &head); err != nil {
		return "", err
	}
	if head.Metadata.Name == "" {
		return "", fmt.Errorf("%s has no name", head.Kind)
	}
	if strings.HasPrefix(head.APIVersion, "keda.sh/") {
		return head.Kind + " of KEDA", checkKEDA(head.Kind, text)
	}
	decoder := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	_, kind, err := decoder.Decode(text, nil, nil)
	if err != nil {
		return "", err
	}
	return kind.Kind, s.check(head.APIVersion, head.Kind, text)
}
