package detect

// openCalls are the arguments of the calls that have no answer yet, by the frame of the call. The
// zero value is ready.
type openCalls struct{ args map[uint64][]byte }

// The bounds of what is remembered: calls, and the bytes of one's arguments.
const (
	maxOpenCalls = 256
	maxKeptArgs  = 64 << 10
)

// keep remembers what a call gave. Calls of one batch have one frame.
func (o *openCalls) keep(c *context) {
	if o.args == nil {
		o.args = map[uint64][]byte{}
	}
	if c.Asked == nil {
		return
	}
	before := o.args[c.Asked.Seq]
	if len(c.Args) == 0 || len(before)+len(c.Args) > maxKeptArgs || before == nil && len(o.args) >= maxOpenCalls {
		return
	}
	o.args[c.Asked.Seq] = append(before, c.Args...)
}

// take is what the call of a frame gave, which is forgotten.
func (o *openCalls) take(seq uint64) []byte {
	args := o.args[seq]
	delete(o.args, seq)
	return args
}
