package pii

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// obfuscated reports whether a text could spell a secret in other characters:
// it is not ASCII, or it holds JSON's numeric escapes.
func obfuscated(t []byte) bool {
	const tops = 0x8080808080808080
	i := 0
	for ; i+8 <= len(t); i += 8 {
		if binary.LittleEndian.Uint64(t[i:])&tops != 0 {
			return true
		}
	}
	for ; i < len(t); i++ {
		if t[i] >= utf8.RuneSelf {
			return true
		}
	}
	return bytes.Contains(t, []byte(`\u`))
}

// lookalikes are letters that look like an ASCII letter and have no
// compatibility mapping to it, each before the letter that it looks like.
const lookalikes = "аaеeоoрpсcуyхxіiјjѕsԁdһhԛqԝw" + // Cyrillic, small
	"АAВBЕEКKМMНHОOРPСCТTУYХXІIЈJЅS" + // Cyrillic, capital
	"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοoαaνvιiκk" + // Greek
	"աaբbգgդdեeզzէeըeթtժjիiլlխxծuկkհhձjղnմmյyնnշwոnչqպpջjռrսuվvտtրrցuփpքqօoֆf" + // Armenian
	"ᴀAʙBᴄCᴅDᴇEɢGʜHɪIᴊJᴋKʟLᴍMɴNᴏOᴘPʀRᴛTᴜUᴠVᴡWʏYᴢZᴃBᴆDᴌLᴎNᴐOᴙRᴚRᴣZ" // small capitals

var plainOf = func() map[rune]byte {
	out := map[rune]byte{}
	rs := []rune(lookalikes)
	for i := 0; i+1 < len(rs); i += 2 {
		out[rs[i]] = byte(rs[i+1])
	}
	return out
}()

// normalize writes a text as it reads: without what is not seen and without
// marks, with look-alikes and compatible forms as the letters that they show.
func normalize(t []byte) []byte {
	t = unescape(t)
	out := make([]byte, 0, len(t))
	for len(t) > 0 {
		r, n := utf8.DecodeRune(t)
		switch {
		case r < utf8.RuneSelf:
			out = append(out, t[0])
		case unseen(r):
		case plainOf[r] != 0:
			out = append(out, plainOf[r])
		default:
			out = appendFolded(out, t[:n])
		}
		t = t[n:]
	}
	return out
}

// appendFolded appends one character in its compatible form, without marks.
func appendFolded(out, char []byte) []byte {
	for _, r := range string(norm.NFKC.Bytes(char)) {
		switch {
		case unseen(r):
		case plainOf[r] != 0:
			out = append(out, plainOf[r])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// unseen are marks, format characters and blank letters.
func unseen(r rune) bool {
	return unicode.In(r, unicode.M, unicode.Cf) || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}

// unescape writes JSON's \uXXXX as characters; what is no such escape stays.
func unescape(t []byte) []byte {
	if !bytes.Contains(t, []byte(`\u`)) {
		return t
	}
	var out strings.Builder
	for len(t) > 0 {
		i := bytes.IndexByte(t, '\\')
		if i < 0 || i+1 >= len(t) {
			out.Write(t)
			break
		}
		out.Write(t[:i])
		t = t[i:]
		n := 2
		if t[1] == 'u' && len(t) >= 6 {
			if v, err := strconv.ParseUint(string(t[2:6]), 16, 16); err == nil {
				n = 6
				// Half of a pair becomes U+FFFD, which no secret holds.
				out.WriteRune(rune(v))
				t = t[n:]
				continue
			}
		}
		out.Write(t[:n])
		t = t[n:]
	}
	return []byte(out.String())
}
