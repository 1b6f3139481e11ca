package tlsread

// Options say which processes a Reader watches, and how much.
type Options struct {
	// PID is a process of the pid namespace to be watched, as this process numbers it; 0 is
	// for every process of the machine.
	PID int
	// Limit is how many bytes of each connection and direction are read, 0 for all.
	Limit uint64
	// Reads has what was received read, too.
	Reads bool
	// Everywhere has the Reader find the libraries of the whole machine by itself: of the
	// processes that run, and of those that will. PID is 0 then.
	Everywhere bool
	// Ring is the size of the buffer between the kernel and this process in bytes, a
	// power of two; 0 is 8 MiB.
	Ring int
}
