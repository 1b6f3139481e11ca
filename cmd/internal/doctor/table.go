package doctor

import (
	"context"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

// checks are the table's rows: first what a run needs, then what makes it better.
func checks() []check {
	return []check{
		{"docker engine", engine},
		{"docker image", docker.New("").Supported},
		{"user namespaces", namespaces},
		{"local sandbox", local.New().Supported},
		{"strace", straceWorks},
		{"landlock", landlock},
		{"nf_tables tproxy", tproxy},
		{"ebpf", bpf},
		{"cgroup", cgroups},
		{"node", tool("for Node servers in the local sandbox, install Node 20 or newer", "node", "nodejs")},
		{"python", tool("for Python servers in the local sandbox, install Python 3.10 or newer", "python3", "python")},
		{"uv", tool("for uvx servers, install uv (pip install uv)", "uv")},
	}
}

func engine(ctx context.Context) sandbox.Support {
	s, cli := docker.Engine(ctx)
	if cli != nil {
		_ = cli.Close()
	}
	return s
}
