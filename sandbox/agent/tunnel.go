package agent

import (
	"encoding/binary"
	"errors"
)

// TunnelOp says what a frame of a tunnel does. A tunnel is a connection of the
// host's to a port on which the target listens, on the sandbox's loopback.
type TunnelOp byte

// The operations, each of one tunnel, which the host numbers.
const (
	// TunnelPorts asks for, and answers with, the ports on which the target listens.
	TunnelPorts TunnelOp = 'p'
	// TunnelOpen asks for a connection to a port, and answers that it is there.
	TunnelOpen TunnelOp = 'o'
	// TunnelData are bytes, TunnelEnd says that no more come from its side.
	TunnelData TunnelOp = 'd'
	TunnelEnd  TunnelOp = 'e'
	// TunnelReset says that the tunnel is no more. The agent's says why.
	TunnelReset TunnelOp = 'r'
)

// MaxTunnels bounds the tunnels at a time.
const MaxTunnels = 32

// TunnelAhead bounds the bytes that wait for one tunnel's reader on either side.
const TunnelAhead = 8 << 20

// tunnelHeader is the length of what precedes the data of a frame.
const tunnelHeader = 5

// TunnelFrame is the payload of a mux.Tunnel frame.
type TunnelFrame struct {
	ID   uint32
	Op   TunnelOp
	Data []byte
}

// Encode is the frame's payload.
func (f TunnelFrame) Encode() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, tunnelHeader+len(f.Data)), f.ID)
	return append(append(b, byte(f.Op)), f.Data...)
}

// DecodeTunnel reads a payload. Data shares memory with it.
func DecodeTunnel(p []byte) (TunnelFrame, error) {
	if len(p) < tunnelHeader {
		return TunnelFrame{}, errors.New("a tunnel's frame without a header")
	}
	return TunnelFrame{ID: binary.LittleEndian.Uint32(p), Op: TunnelOp(p[4]), Data: p[tunnelHeader:]}, nil
}

// EncodePorts writes ports, and DecodePorts reads them.
func EncodePorts(ports []int) []byte {
	var b []byte
	for _, p := range ports {
		b = binary.LittleEndian.AppendUint16(b, uint16(p))
	}
	return b
}

// DecodePorts reads what EncodePorts wrote.
func DecodePorts(b []byte) []int {
	var ports []int
	for ; len(b) >= 2; b = b[2:] {
		ports = append(ports, int(binary.LittleEndian.Uint16(b)))
	}
	return ports
}
