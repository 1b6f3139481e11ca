package detect

// openCalls are the arguments of the calls that have no answer yet, by the frame of the call.
type openCalls map[uint64][]byte

// The bounds of what is remembered: calls, and the bytes of one's arguments.
const (
	maxOpenCalls = 256
	maxKeptArgs  = 64 << 10
)

// event keeps what a call gave, and returns what the call gave that is answered, which is forgotten.
func (o openCalls) event(c *context) []byte {
	switch {
	case c.IsCall() && c.Asked != nil:
		o.keep(c.Asked.Seq, c.Args)
	case c.IsCallResult():
		args := o[c.Asked.Seq]
		delete(o, c.Asked.Seq)
		return args
	}
	return nil
}

// keep remembers what a call gave. Calls of one batch have one frame.
func (o openCalls) keep(seq uint64, args []byte) {
	before := o[seq]
	if len(args) == 0 || len(before)+len(args) > maxKeptArgs || before == nil && len(o) >= maxOpenCalls {
		return
	}
	o[seq] = append(before, args...)
}
