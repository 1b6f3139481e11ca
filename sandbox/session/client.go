package session

import (
	"bytes"
	"encoding/json"
	"io"
)

// maxMetrics bounds the last line of a log, in bytes.
const maxMetrics = 4 << 10

// ClosedByProbe reports whether the last line of a session log says that coalmine was the
// client, as it does in the log of a probe that was moved away from its directory. It leaves
// the reading position as it was.
func ClosedByProbe(log io.ReadSeeker) bool {
	at, err := log.Seek(0, io.SeekCurrent)
	if err != nil {
		return false
	}
	defer func() { _, _ = log.Seek(at, io.SeekStart) }() // a file that was just sought in
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return false
	}
	tail := make([]byte, min(size, maxMetrics))
	if _, err := log.Seek(size-int64(len(tail)), io.SeekStart); err != nil {
		return false
	}
	if _, err := io.ReadFull(log, tail); err != nil {
		return false
	}
	tail = bytes.TrimRight(tail, "\n")
	var m Metrics
	if json.Unmarshal(tail[bytes.LastIndexByte(tail, '\n')+1:], &m) != nil {
		return false
	}
	return m.Type == "glassport.metrics" && m.Client == ClientProbe
}
