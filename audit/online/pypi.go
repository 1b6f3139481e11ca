package online

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// project is what PyPI says of a project or of one version of it (docs.pypi.org/api/json).
type project struct {
	Info struct {
		Version      string            `json:"version"`
		Yanked       bool              `json:"yanked"`
		YankedReason string            `json:"yanked_reason"`
		HomePage     string            `json:"home_page"`
		URLs         map[string]string `json:"project_urls"`
	} `json:"info"`
	Files []struct {
		Filename string    `json:"filename"`
		Uploaded time.Time `json:"upload_time_iso_8601"`
	} `json:"urls"`
}

// provenance is the answer of PyPI's integrity API (PEP 740, docs.pypi.org/api/integrity).
type provenance struct {
	Bundles []struct {
		Publisher struct {
			Repository string `json:"repository"`
		} `json:"publisher"`
	} `json:"attestation_bundles"`
}

const pypiService = "PyPI"

func (p *project) uploaded() (first time.Time) {
	for _, f := range p.Files {
		if first.IsZero() || f.Uploaded.Before(first) {
			first = f.Uploaded
		}
	}
	return first
}

// pypi asks PyPI.
func (c *checker) pypi(ctx context.Context) {
	base := pypi + "/pypi/" + url.PathEscape(c.Package.Name)
	var own, latest project
	err := c.get(ctx, pypiService, Question{URL: base + "/" + url.PathEscape(c.Package.Version) + "/json", Accept: "application/json"}, &own)
	switch {
	case errors.Is(err, errMissing):
		c.add(audit.ProvNotInRegistry, finding.High, "", "PyPI has no version "+c.Package.Version+" of "+c.Package.Name, c.Package.Version)
		return
	case err != nil:
		return
	}
	if own.Info.Yanked {
		c.add(audit.ProvDeprecated, finding.Medium, "", "the version was yanked: "+own.Info.YankedReason, c.Package.Version)
	}
	if err := c.get(ctx, pypiService, Question{URL: base + "/json", Accept: "application/json"}, &latest); err != nil {
		return
	}
	c.dates(own.uploaded(), latest.uploaded())
	if c.Repository == "" {
		c.Repository = statedRepository(&own)
	}
	c.pypiProvenance(ctx, &own)
}

// statedRepository is the first address of a project that is one of a repository.
func statedRepository(p *project) string {
	for _, key := range []string{"Repository", "Source", "Source Code", "repository", "source", "Code", "Homepage", "homepage"} {
		if strings.Contains(p.Info.URLs[key], "github.com/") {
			return p.Info.URLs[key]
		}
	}
	return ""
}

// pypiProvenance asks who published a version's file.
func (c *checker) pypiProvenance(ctx context.Context, p *project) {
	file := c.File
	for _, f := range p.Files {
		if file == "" || c.File == "" && strings.HasSuffix(f.Filename, ".whl") {
			file = f.Filename
		}
	}
	if file == "" || len(file) > 300 {
		return
	}
	var said provenance
	err := c.get(ctx, pypiService, Question{
		URL:    pypi + "/integrity/" + url.PathEscape(c.Package.Name) + "/" + url.PathEscape(c.Package.Version) + "/" + url.PathEscape(file) + "/provenance",
		Accept: "application/vnd.pypi.integrity.v1+json",
	}, &said)
	switch {
	case errors.Is(err, errMissing), err == nil && len(said.Bundles) == 0:
		c.add(audit.ProvUnsigned, finding.Info, "", "the version has no provenance: nothing says from which source it was built", "")
	case err == nil:
		c.built(said.Bundles[0].Publisher.Repository)
	}
}
