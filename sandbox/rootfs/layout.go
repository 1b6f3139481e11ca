package rootfs

import "time"

// Layout is everything that a local sandbox's root directory holds. All
// targets are absolute paths inside the sandbox; all sources are host paths.
type Layout struct {
	// Binds are host trees made visible at the same or another path.
	Binds []Bind `json:"binds,omitempty"`
	// Overlays are host trees that the target may write to without the host
	// ever seeing it: the writes go to a tmpfs that dies with the sandbox.
	Overlays []Overlay `json:"overlays,omitempty"`
	// Tmpfs are fresh file systems.
	Tmpfs []Tmpfs `json:"tmpfs,omitempty"`
	// Files are written after the mounts, once the old root is gone, so that no
	// link in a shown tree can lead a write to the host.
	Files []File `json:"files,omitempty"`
	// Masks are paths inside shown trees that appear empty.
	Masks []string `json:"masks,omitempty"`
	// Size bounds the root tmpfs in bytes.
	Size int64 `json:"size"`
}

// Bind is a host file or tree at a place of the sandbox, nosuid and nodev.
type Bind struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"readOnly"`
	// Optional says that a missing Source is not an error.
	Optional bool `json:"optional,omitempty"`
}

// Overlay is a writable view of a host tree.
type Overlay struct {
	Lower  string `json:"lower"`
	Target string `json:"target"`
	// Own gives the tree to the target: its directories, the files that only their
	// owner may read, and a bounded number of those that were not installed.
	Own bool `json:"own"`
	// Size bounds what is written, in bytes; 0 is MaxCopy.
	Size int64 `json:"size,omitempty"`
	// Copy makes a copy of the tree at once, as is done where the kernel refuses an overlay.
	Copy bool `json:"copy,omitempty"`
	// Hide are paths in Lower, relative to it, that the view does not have.
	Hide []string `json:"hide,omitempty"`
}

// MaxCopy bounds the copy of a tree that cannot be overlaid, in bytes.
const MaxCopy = 1 << 30

// Tmpfs is a fresh file system of at most Size bytes.
type Tmpfs struct {
	Target string `json:"target"`
	Size   int64  `json:"size"`
	Mode   uint32 `json:"mode"`
	// Own gives its root directory to the target.
	Own bool `json:"own"`
}

// File is a file, directory or link to create. Parents are created as needed.
type File struct {
	Path string `json:"path"`
	Mode uint32 `json:"mode"`
	Data []byte `json:"data,omitempty"`
	// Dir makes it a directory.
	Dir bool `json:"dir,omitempty"`
	// Link makes it a symbolic link to this text.
	Link string `json:"link,omitempty"`
	// ModTime is left alone when zero.
	ModTime time.Time `json:"modTime,omitzero"`
	// Root keeps it owned by the agent; others are the target's.
	Root bool `json:"root,omitempty"`
}

// Writable are the places of the layout to which the target may write.
func (l *Layout) Writable() []string {
	places := []string{"/dev", "/proc"}
	for _, t := range l.Tmpfs {
		places = append(places, t.Target)
	}
	for _, o := range l.Overlays {
		places = append(places, o.Target)
	}
	for _, b := range l.Binds {
		if !b.ReadOnly {
			places = append(places, b.Target)
		}
	}
	return places
}
