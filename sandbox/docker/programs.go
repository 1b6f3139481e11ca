package docker

import (
	"archive/tar"
	"fmt"
	"io"
	"strings"
	"time"
)

// programs yields the archive with the agent and the tracer.
func (p *setup) programs() func(io.Writer) error {
	return func(w io.Writer) error {
		a := tar.NewWriter(w)
		info, err := p.agent.Stat()
		if err != nil {
			return fmt.Errorf("read the agent: %w", err)
		}
		// The past, as everything else in an image is.
		when := time.Now().AddDate(0, -2, 0).Truncate(24 * time.Hour)
		h := &tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(agentPath, "/"), Mode: 0o755, Size: info.Size(), ModTime: when}
		if err := a.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(a, io.NewSectionReader(p.agent, 0, info.Size())); err != nil {
			return fmt.Errorf("read the agent: %w", err)
		}
		for _, f := range p.tracer {
			h := &tar.Header{Name: strings.TrimPrefix(f.Path, "/"), Mode: int64(f.Mode & 0o777), ModTime: when}
			switch {
			case f.Dir:
				h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
			case f.Link != "":
				h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
			default:
				h.Typeflag, h.Size = tar.TypeReg, int64(len(f.Data))
			}
			if err := a.WriteHeader(h); err != nil {
				return err
			}
			if _, err := a.Write(f.Data); err != nil {
				return err
			}
		}
		return a.Close()
	}
}
