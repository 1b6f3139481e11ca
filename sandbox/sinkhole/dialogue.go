package sinkhole

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// lineProtocol is a protocol of lines, in which the server speaks first, or one of packets.
type lineProtocol struct {
	app, banner string
	answer      func(t *dialogue, line string) string
	// packets answers the whole packets of some bytes, and returns what is left of them.
	packets func(t *dialogue, in []byte) (answer, left []byte)
}

// dialogue is the state of one connection that speaks such a protocol.
type dialogue struct {
	dest netip.AddrPort
	data bool // lines are a message, until a single dot
	auth int  // lines that answer a prompt for credentials
	quit bool
	five bool // it is version 5 of MQTT
	// planted is what mails carry. tag is that of a command of IMAP that goes on for so many bytes.
	planted *Planted
	tag     string
	left    int
}

var (
	smtp = &lineProtocol{app: "smtp", banner: "220 mail ESMTP Postfix\r\n", answer: (*dialogue).smtp}
	ftp  = &lineProtocol{app: "ftp", banner: "220 (vsFTPd 3.0.5)\r\n", answer: (*dialogue).ftp}
	pop3 = &lineProtocol{app: "pop3", banner: "+OK POP3 server ready\r\n", answer: (*dialogue).pop3}
	imap = &lineProtocol{app: "imap", banner: "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN LOGIN] ready\r\n", answer: (*dialogue).imap}
	ssh  = &lineProtocol{app: "ssh", banner: "SSH-2.0-OpenSSH_9.6\r\n"}
)

var lineProtocols = map[uint16]*lineProtocol{
	21: ftp, 2121: ftp, 990: ftp, 22: ssh, 2222: ssh, 25: smtp, 465: smtp, 587: smtp, 2525: smtp,
	110: pop3, 995: pop3, 143: imap, 993: imap, 3306: mysql,
}

func lineProtocolOf(port uint16) *lineProtocol { return lineProtocols[port] }

// greetingWait is how long a client may stay silent before it is greeted.
func greetingWait(port uint16) time.Duration {
	if port == 465 || port == 990 || port == 993 || port == 995 {
		return 3 * time.Second // a ClientHello comes first
	}
	return 150 * time.Millisecond
}

func verb(line string) (string, string) {
	v, rest, _ := strings.Cut(line, " ")
	return strings.ToUpper(v), rest
}

func (t *dialogue) smtp(line string) string {
	if t.data {
		if line == "." {
			t.data = false
			return "250 2.0.0 Ok: queued as 4F2A81C0D3\r\n"
		}
		return ""
	}
	if t.auth > 0 {
		if t.auth--; t.auth > 0 {
			return "334 UGFzc3dvcmQ6\r\n"
		}
		return "235 2.7.0 Authentication successful\r\n"
	}
	v, rest := verb(line)
	switch v {
	case "EHLO":
		return "250-mail\r\n250-SIZE 52428800\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n"
	case "AUTH":
		how, initial, _ := strings.Cut(strings.ToUpper(rest), " ")
		switch {
		case how == "LOGIN" && initial == "":
			t.auth = 2
			return "334 VXNlcm5hbWU6\r\n"
		case how == "LOGIN":
			t.auth = 1
			return "334 UGFzc3dvcmQ6\r\n"
		case initial == "":
			t.auth = 1
			return "334 \r\n"
		}
		return "235 2.7.0 Authentication successful\r\n"
	case "DATA":
		t.data = true
		return "354 End data with <CR><LF>.<CR><LF>\r\n"
	case "STARTTLS":
		return "454 4.7.0 TLS not available\r\n"
	case "QUIT":
		t.quit = true
		return "221 2.0.0 Bye\r\n"
	}
	return "250 2.0.0 Ok\r\n"
}

func (t *dialogue) ftp(line string) string {
	v, _ := verb(line)
	switch v {
	case "USER":
		return "331 Please specify the password.\r\n"
	case "PASS":
		return "230 Login successful.\r\n"
	case "SYST":
		return "215 UNIX Type: L8\r\n"
	case "FEAT":
		return "211-Features:\r\n EPSV\r\n PASV\r\n UTF8\r\n211 End\r\n"
	case "PWD", "XPWD":
		return "257 \"/\" is the current directory\r\n"
	case "TYPE", "MODE", "STRU", "OPTS":
		return "200 Ok.\r\n"
	case "AUTH", "PROT", "PBSZ":
		return "530 Please login with USER and PASS.\r\n"
	case "EPSV":
		return "229 Entering Extended Passive Mode (|||21873|)\r\n"
	case "PASV":
		a := t.dest.Addr()
		if !a.Is4() {
			return "425 Use EPSV.\r\n"
		}
		return fmt.Sprintf("227 Entering Passive Mode (%s,85,113).\r\n", strings.ReplaceAll(a.String(), ".", ","))
	case "STOR", "APPE", "STOU":
		return "150 Ok to send data.\r\n226 Transfer complete.\r\n"
	case "RETR", "LIST", "NLST":
		return "550 Failed to open file.\r\n"
	case "QUIT":
		t.quit = true
		return "221 Goodbye.\r\n"
	}
	return "250 Ok.\r\n"
}
