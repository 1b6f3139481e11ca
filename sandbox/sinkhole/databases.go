package sinkhole

import (
	"bytes"
	"encoding/binary"
)

// The databases refuse whoever logs in, at once: a client that meets silence waits for its timeout in every call. A real
// one is beside the server with --service.
var (
	// postgres is the protocol of PostgreSQL, version 3 (https://www.postgresql.org/docs/current/protocol.html).
	postgres = &lineProtocol{app: "postgresql", packets: (*dialogue).postgres}
	// mysql is the protocol of MySQL and MariaDB, whose server speaks first; ERR_Packet 1130 is its first word.
	mysql = &lineProtocol{app: "mysql", banner: mysqlRefusal("#HY000Host is not allowed to connect to this server")}
)

// The codes of a first message of PostgreSQL.
const (
	postgresVersion = 3 << 16
	postgresTLS     = 80877103
	postgresGSS     = 80877104
	// maxPostgres bounds a message, in bytes: who sends a longer one is left alone.
	maxPostgres = 64 << 10
)

// isPostgres reports whether a connection begins with a first message of PostgreSQL.
func isPostgres(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	n, code := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	return n == 8 && (code == postgresTLS || code == postgresGSS) || code == postgresVersion && n > 8 && n <= maxPostgres
}

// postgres answers the whole messages and returns the part of one that is left: no TLS, a question for the password,
// and then that it is wrong.
func (t *dialogue) postgres(in []byte) (answer, left []byte) {
	for len(in) > 0 && !t.quit {
		at := 0
		if t.auth > 0 { // messages have a type once the client has begun
			at = 1
		}
		if len(in) < at+8 {
			return answer, in
		}
		n := int64(binary.BigEndian.Uint32(in[at:]))
		switch {
		case n < 4 || n > maxPostgres:
			t.quit = true
			return answer, nil
		case int64(len(in)-at) < n:
			return answer, in
		}
		message := in[:at+int(n)]
		in = in[len(message):]
		switch {
		case at == 1:
			t.quit = true
			answer = append(answer, postgresMessage('E', []byte("SFATAL\x00VFATAL\x00C28P01\x00Mpassword authentication failed\x00\x00"))...)
		case isPostgres(message) && n == 8:
			answer = append(answer, 'N')
		case isPostgres(message):
			t.auth = 1
			answer = append(answer, postgresMessage('R', []byte{0, 0, 0, 3})...)
		default:
			t.quit = true
		}
	}
	return answer, nil
}

func postgresMessage(kind byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body))), body...)
}

// mysqlRefusal is the packet by which a server refuses a host.
func mysqlRefusal(text string) string {
	const refused = 1130
	body := append([]byte{0xff}, binary.LittleEndian.AppendUint16(nil, refused)...)
	body = append(body, text...)
	return string(bytes.Join([][]byte{{byte(len(body)), 0, 0, 0}, body}, nil))
}
