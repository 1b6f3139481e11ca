package wire

// MaxLine is the bound on a line that a zero or negative maximum stands for.
const MaxLine = 32 << 20

// Line is one line of a newline-delimited stream, without its line end
// ("\n", or "\r\n").
type Line struct {
	// Raw is the line, valid until emit returns. Of an Oversize line it is a
	// head of at most HeadSize bytes.
	Raw []byte
	// Oversize says that the line was longer than the Splitter's maximum.
	Oversize bool
	// Len is the whole line's length in bytes, line end excluded.
	Len int
}

// HeadSize bounds what is kept of an oversize line.
const HeadSize = 4 << 10

// Splitter cuts a byte stream into lines, whatever chunks it comes in.
type Splitter struct {
	max int
}

// NewSplitter returns a Splitter for lines of at most max bytes, MaxLine if max is not positive.
func NewSplitter(max int) *Splitter { return &Splitter{max: max} }

// Feed takes the stream's next bytes and calls emit for each line that they complete.
func (s *Splitter) Feed(p []byte, emit func(Line)) {}

// Flush emits what the stream's end left without a line end, if anything.
func (s *Splitter) Flush(emit func(Line)) {}
