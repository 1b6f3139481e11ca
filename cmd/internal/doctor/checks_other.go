//go:build !linux

package doctor

import (
	"context"

	"github.com/coalmine-dev/coalmine/sandbox"
)

func onlyLinux(context.Context) sandbox.Support {
	return no("use docker", "only Linux has it")
}

var namespaces, landlock, tproxy, bpf, cgroups = onlyLinux, onlyLinux, onlyLinux, onlyLinux, onlyLinux
