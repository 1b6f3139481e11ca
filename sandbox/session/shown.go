package session

// Why a path of the host is shown.
const (
	// ShownServer is the server's own directory or file.
	ShownServer = "server"
	// ShownProgram is a program that the command starts, with the tree that it was
	// installed in.
	ShownProgram = "program"
	// ShownSystem belongs to the operating system.
	ShownSystem = "system"
	// ShownContainer is the container itself, where that is the sandbox.
	ShownContainer = "container"
)

// Shown is a path of the host that a run shows to the server, read-only or as a copy.
type Shown struct {
	// Path is the host's, without links; As is its place in the sandbox where that is another.
	Path string `json:"path"`
	As   string `json:"as,omitempty"`
	// Why is one of the Shown constants.
	Why string `json:"why"`
	// Masked counts the files below it whose secrets are not shown, Hidden the paths that
	// are not shown at all, of which git does not track Untracked.
	Masked    int `json:"masked,omitempty"`
	Hidden    int `json:"hidden,omitempty"`
	Untracked int `json:"untracked,omitempty"`
	// MaskedPaths and HiddenPaths name the first hundred of each.
	MaskedPaths []string `json:"maskedPaths,omitempty"`
	HiddenPaths []string `json:"hiddenPaths,omitempty"`
}
