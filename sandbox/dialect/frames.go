package dialect

// frames cuts a stream into messages, each a header and a body. Of a body longer than
// maxMessage only the beginning is handed on, and its rest is skipped.
type frames struct {
	// header is the length of a header; size reads the length of the body from one, and
	// a negative one is an error.
	header int
	size   func(header []byte) int

	head []byte
	body []byte
	left int // of the body
	in   bool
}

// feed calls take for each message that is whole by now.
func (f *frames) feed(p []byte, take func(header, body []byte) error) error {
	for {
		if !f.in {
			n := min(f.header-len(f.head), len(p))
			f.head = append(f.head, p[:n]...)
			p = p[n:]
			if len(f.head) < f.header {
				return nil
			}
			if f.left = f.size(f.head); f.left < 0 {
				return errMalformed
			}
			f.in, f.body = true, f.body[:0]
		}
		n := min(f.left, len(p))
		f.body = append(f.body, p[:min(n, maxMessage-len(f.body))]...)
		p, f.left = p[n:], f.left-n
		if f.left > 0 {
			return nil
		}
		head := f.head
		f.in, f.head = false, nil
		if err := take(head, f.body); err != nil {
			return err
		}
		if len(p) == 0 {
			return nil
		}
	}
}
