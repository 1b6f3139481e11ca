package online

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// packument is what the registry of npm says of a package, in the full form
// (github.com/npm/registry, docs/responses/package-metadata.md).
type packument struct {
	Tags     map[string]string     `json:"dist-tags"`
	Time     map[string]string     `json:"time"`
	Versions map[string]npmVersion `json:"versions"`
}

type npmVersion struct {
	// Deprecated is a text, or false.
	Deprecated  any         `json:"deprecated"`
	Maintainers []npmPerson `json:"maintainers"`
	User        npmPerson   `json:"_npmUser"`
	Dist        struct {
		Integrity    string          `json:"integrity"`
		Attestations json.RawMessage `json:"attestations"`
	} `json:"dist"`
}

type npmPerson struct {
	Name string `json:"name"`
}

// attestations are the answer of /-/npm/v1/attestations: bundles of Sigstore with statements of in-toto.
type attestations struct {
	List []struct {
		Type   string `json:"predicateType"`
		Bundle struct {
			Envelope struct {
				Payload string `json:"payload"`
			} `json:"dsseEnvelope"`
		} `json:"bundle"`
	} `json:"attestations"`
}

// statement is one of in-toto with the predicate of SLSA's provenance v1.
type statement struct {
	Subject []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	Predicate struct {
		Definition struct {
			Parameters struct {
				Workflow struct {
					Repository string `json:"repository"`
				} `json:"workflow"`
			} `json:"externalParameters"`
		} `json:"buildDefinition"`
	} `json:"predicate"`
}

const (
	npmService     = "the registry of npm"
	slsaProvenance = "https://slsa.dev/provenance/v1"
)

// npm asks the registry of npm.
func (c *checker) npm(ctx context.Context) {
	var p packument
	name := url.PathEscape(c.Package.Name)
	err := c.get(ctx, npmService, Question{URL: npmRegistry + "/" + name, Accept: "application/json"}, &p)
	v, there := p.Versions[c.Package.Version]
	switch {
	case errors.Is(err, errMissing), err == nil && !there:
		c.add(audit.ProvNotInRegistry, finding.High, "", "npm has no version "+c.Package.Version+" of "+c.Package.Name, c.Package.Version)
		return
	case err != nil:
		return
	}
	if why, ok := v.Deprecated.(string); ok && why != "" {
		c.add(audit.ProvDeprecated, finding.Medium, "", "the version is deprecated: "+why, c.Package.Version)
	}
	at := func(version string) time.Time {
		t, _ := time.Parse(time.RFC3339, p.Time[version])
		return t
	}
	c.dates(at(c.Package.Version), at(p.Tags["latest"]))
	c.maintainers(&p, &v, at)
	c.npmProvenance(ctx, &v)
}

// maintainers judges who publishes a version, beside the one before it.
func (c *checker) maintainers(p *packument, v *npmVersion, at func(string) time.Time) {
	if len(v.Maintainers) == 1 {
		c.add(audit.ProvSingleMaintainer, finding.Info, "", "the package has one maintainer", "")
	}
	own, before := at(c.Package.Version), ""
	for other := range p.Versions {
		if t := at(other); t.Before(own) && (before == "" || t.After(at(before)) || t.Equal(at(before)) && other > before) {
			before = other
		}
	}
	if own.IsZero() || before == "" {
		return
	}
	last := p.Versions[before]
	known := func(who npmPerson) bool { return slices.Contains(append(last.Maintainers, last.User), who) }
	if who := v.User; who.Name != "" && len(last.Maintainers) > 0 && !known(who) && !strings.EqualFold(who.Name, "GitHub Actions") {
		c.add(audit.ProvMaintainers, finding.Medium, "", "version "+c.Package.Version+" was published by "+who.Name+", who was no maintainer of "+before, c.Package.Version)
		return
	}
	for _, who := range v.Maintainers {
		if len(last.Maintainers) > 0 && !known(who) {
			c.add(audit.ProvMaintainers, finding.Low, "", who.Name+" became a maintainer after "+before, c.Package.Version)
			return
		}
	}
}

// npmProvenance compares what an attestation says with the archive and the manifest.
func (c *checker) npmProvenance(ctx context.Context, v *npmVersion) {
	var a attestations
	if len(v.Dist.Attestations) > 0 {
		err := c.get(ctx, npmService, Question{URL: npmRegistry + "/-/npm/v1/attestations/" + url.PathEscape(c.Package.Name) + "@" + url.PathEscape(c.Package.Version), Accept: "application/json"}, &a)
		if err != nil && !errors.Is(err, errMissing) {
			return
		}
	}
	for _, one := range a.List {
		if one.Type != slsaProvenance {
			continue
		}
		var s statement
		payload, err := base64.StdEncoding.DecodeString(one.Bundle.Envelope.Payload)
		if err != nil || json.Unmarshal(payload, &s) != nil {
			continue
		}
		if digest := integrityHex(v.Dist.Integrity); digest != "" && len(s.Subject) > 0 {
			same := false
			for _, of := range s.Subject {
				same = same || strings.EqualFold(of.Digest["sha512"], digest)
			}
			if !same {
				c.add(audit.ProvMismatch, finding.High, "", "the provenance of version "+c.Package.Version+" belongs to another archive than the registry's", c.Package.Version)
			}
		}
		c.built(s.Predicate.Definition.Parameters.Workflow.Repository)
		return
	}
	c.add(audit.ProvUnsigned, finding.Info, "", "the version has no provenance: nothing says from which source it was built", "")
}

// integrityHex is the SHA-512 of a subresource integrity in hexadecimal digits.
func integrityHex(integrity string) string {
	for word := range strings.FieldsSeq(integrity) {
		if b64, ok := strings.CutPrefix(word, "sha512-"); ok {
			if sum, err := base64.StdEncoding.DecodeString(b64); err == nil {
				return hex.EncodeToString(sum)
			}
		}
	}
	return ""
}
