package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

const (
	// MaxConfig bounds the JSON of a Config.
	MaxConfig = 64 << 20
	// MaxKept bounds the files and directories that answer a collect.
	MaxKept = 4000
	// MaxServed bounds the JSON of a Command's Served, in bytes: an answer of 32 KiB whose every sign is escaped fits.
	MaxServed = 256 << 10
	// StdinWindow is how many bytes of stdin a host may have on the way: sent,
	// and not yet the subject of a session.EventStdin.
	StdinWindow = 4 << 20
)

// WriteConfig sends the Config: its JSON cut into as many control frames as
// needed, then an empty control frame.
func WriteConfig(w *mux.Writer, c *Config) error {
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the agent's configuration: %w", err)
	}
	if len(b) > MaxConfig {
		return fmt.Errorf("the agent's configuration has %d bytes, over the bound of %d", len(b), MaxConfig)
	}
	for len(b) > 0 {
		n := min(len(b), mux.MaxPayload)
		if err := w.Write(mux.Frame{Stream: mux.Control, Payload: b[:n]}); err != nil {
			return err
		}
		b = b[n:]
	}
	return w.Write(mux.Frame{Stream: mux.Control})
}

// ReadConfig receives what WriteConfig sent.
func ReadConfig(r *mux.Reader) (*Config, error) {
	var b []byte
	for {
		f, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		if f.Stream != mux.Control {
			return nil, fmt.Errorf("read the configuration: a %s frame came first", f.Stream)
		}
		if len(f.Payload) == 0 {
			break
		}
		if len(b)+len(f.Payload) > MaxConfig {
			return nil, fmt.Errorf("the configuration is over the bound of %d bytes", MaxConfig)
		}
		b = append(b, f.Payload...)
	}
	c := new(Config)
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("decode the configuration: %w", err)
	}
	if len(c.Command) == 0 {
		return nil, errors.New("the configuration names no command")
	}
	return c, nil
}

// WriteCommand sends a Command.
func WriteCommand(w *mux.Writer, c Command) error {
	b, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the command %s: %w", c.Type, err)
	}
	return w.Write(mux.Frame{Stream: mux.Control, Payload: b})
}
