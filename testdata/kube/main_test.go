package main

import (
	"strings"
	"testing"
)

// worker is a manifest that is right.
const worker = `apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      containers:
        - name: worker
          image: coalmine
          ports: [{containerPort: 9464}]
          livenessProbe: {httpGet: {path: /healthz, port: 9464}}
          resources: {limits: {memory: 1Gi, cpu: 2}}
`

// Each way to break a manifest is noticed: those that the API's types do not show by its schema.
func TestBrokenManifests(t *testing.T) {
	s, err := readSchemas()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Log("without " + openAPI + " the API's types alone decide")
	}
	if _, err := check(s, []byte(worker)); err != nil {
		t.Fatalf("what is right is refused: %v", err)
	}
	for _, c := range []struct {
		name, from, to string
		schema         bool // only the schema shows it
	}{
		{"a member that the API does not have", "image: coalmine", "image: coalmine\n          imagePolicy: Always", false},
		{"a member in another place", "ports: [{containerPort: 9464}]", "ports: [{containerPort: 9464, path: /}]", false},
		{"a text where a number stands", "containerPort: 9464", "containerPort: metrics", false},
		{"a kind that the API does not have", "kind: Deployment", "kind: Deploiment", false},
		{"a version that the API does not have", "apps/v1", "apps/v7", false},
		{"no name", "{name: worker}", "{namespace: worker}", false},
		{"a container without a name", "- name: worker\n          image: coalmine", "- image: coalmine", true},
		{"no selector", "  selector: {matchLabels: {app: worker}}\n", "", true},
		{"no template", worker[strings.Index(worker, "  template:"):], "", true},
		{"a port of a probe that is missing", "{path: /healthz, port: 9464}", "{path: /healthz}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := strings.Replace(worker, c.from, c.to, 1)
			if broken == worker {
				t.Fatal("nothing is broken")
			}
			if _, err := check(s, []byte(broken)); err == nil && (s != nil || !c.schema) {
				t.Errorf("it is taken:\n%s", broken)
			}
		})
	}
}
