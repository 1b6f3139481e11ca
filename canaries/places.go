package canaries

import "crypto/rand"

// Places are the files below a HOME in which a user's secrets stand: those that decoys
// stand in, without values. Nothing is looked up or read there.
func Places(home string) ([]Canary, error) {
	s, err := New(rand.Reader, Options{Home: home})
	if err != nil {
		return nil, err
	}
	var out []Canary
	for _, c := range s.list {
		if c.Path != "" {
			c.Value = ""
			out = append(out, c)
		}
	}
	return out, nil
}
