//go:build linux && e2e

package packages

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// imageOf makes an image of the project's own with other settings.
func imageOf(t *testing.T, changes ...string) string {
	t.Helper()
	docker := func(args ...string) string {
		out, err := exec.Command("docker", args...).Output()
		if err != nil {
			t.Fatalf("docker %s: %v", args[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	id := docker("create", "--label", "test=image", "coalmine", "true")
	defer docker("rm", id)
	args := []string{"commit"}
	for _, c := range changes {
		args = append(args, "--change", c)
	}
	image := docker(append(args, id)...)
	t.Cleanup(func() { docker("rmi", image) })
	return strings.TrimPrefix(image, "sha256:")
}

// An image is run with its own entry point, arguments, variables and directory; its
// health check is not.
func TestAnImageIsRunAsItSays(t *testing.T) {
	probetest.Need(t, "docker")
	image := imageOf(t, `ENTRYPOINT ["sh","-c","test \"$NOTES_MODE $PWD $0\" = \"fast /opt/demo given\" && exec python3 honest/server.py"]`, `CMD ["default"]`,
		"ENV NOTES_MODE=fast", "WORKDIR /opt/demo", "VOLUME /data/notes", "HEALTHCHECK CMD curl http://93.184.216.34/")
	o := probetest.OfPackage(&install.Spec{Kind: install.KindOCI, Name: image}, probetest.In("auto", t.TempDir(), t.TempDir()))
	o.Args, o.Seed, o.Calls, o.FailOn = []string{"given"}, 1, 1, finding.High
	got, err := probetest.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	res := got.Result
	if res.Verdict != analyze.Clean || len(res.Findings) > 0 || len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
		t.Errorf("%s %q %+v %s", res.Verdict, res.Inconclusive, res.Findings, res.Server.Stderr)
	}
	if res.Audit == nil || res.Audit.Profile.Path != "demo" || res.Audit.Profile.FilesScanned == 0 {
		t.Errorf("the image's source was not audited: %+v", res.Audit)
	}
	if left, err := filepath.Glob(filepath.Join(o.Cache, "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q %v", left, err)
	}
	if p := res.Run.Package; p == nil || p.Kind != "oci" || !strings.HasPrefix(p.Digest, "sha256:") || !strings.Contains(res.Run.Reproduce, "oci:"+image) {
		t.Errorf("%+v %s", p, res.Run.Reproduce)
	}
	if _, err := probetest.Run(t.Context(), probetest.OfPackage(&install.Spec{Kind: install.KindOCI, Name: image}, probetest.In("local", t.TempDir(), ""))); err == nil {
		t.Error("an image ran in namespaces")
	}
}
