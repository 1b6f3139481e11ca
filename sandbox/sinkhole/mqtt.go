package sinkhole

import "bytes"

// mqttProtocol is MQTT 3.1, 3.1.1 and 5.0 as a broker speaks it to which nobody else publishes
// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/mqtt-v5.0.html).
var mqttProtocol = &lineProtocol{app: "mqtt", packets: (*dialogue).mqtt}

// The types of MQTT's control packets, which stand in the upper half of the first byte.
const (
	mqttConnect     = 1
	mqttConnack     = 2
	mqttPublish     = 3
	mqttPuback      = 4
	mqttPubrec      = 5
	mqttPubrel      = 6
	mqttPubcomp     = 7
	mqttSubscribe   = 8
	mqttSuback      = 9
	mqttUnsubscribe = 10
	mqttUnsuback    = 11
	mqttPingreq     = 12
	mqttPingresp    = 13
	mqttDisconnect  = 14
)

// maxMQTT bounds a packet in bytes: who sends a longer one is left alone.
const maxMQTT = 256 << 10

// isMQTT reports whether a connection begins with the CONNECT packet of MQTT.
func isMQTT(head []byte) bool {
	kind, body, _, ok := mqttPacket(head, true)
	return ok && kind>>4 == mqttConnect && (bytes.HasPrefix(body, []byte("\x00\x04MQTT")) || bytes.HasPrefix(body, []byte("\x00\x06MQIsdp")))
}

// mqttPacket takes the first packet off some bytes. ok is false where it is not whole yet; part
// takes what is there of its body.
func mqttPacket(b []byte, part bool) (first byte, body, rest []byte, ok bool) {
	n, at := 0, 1
	for shift := 0; ; shift += 7 {
		if at >= len(b) || shift > 21 {
			return 0, nil, b, false
		}
		c := b[at]
		n, at = n|int(c&0x7f)<<shift, at+1
		if c&0x80 == 0 {
			break
		}
	}
	if len(b)-at < n {
		return b[0], b[at:], nil, part
	}
	return b[0], b[at : at+n], b[at+n:], true
}

// mqtt answers the whole packets and returns the part of one that is left.
func (t *dialogue) mqtt(in []byte) (answer, left []byte) {
	for len(in) > 0 && !t.quit {
		first, body, rest, ok := mqttPacket(in, false)
		if !ok {
			t.quit = len(in) > maxMQTT
			return answer, in
		}
		answer = append(answer, t.mqttAnswer(first, body)...)
		in = rest
	}
	return answer, nil
}

// mqttAnswer is what a broker answers to a packet, nil for nothing.
func (t *dialogue) mqttAnswer(first byte, body []byte) []byte {
	packet := func(kind byte, parts ...byte) []byte { return append([]byte{kind << 4, byte(len(parts))}, parts...) }
	var id []byte
	if len(body) >= 2 {
		id = body[:2]
	}
	switch kind := first >> 4; {
	case kind == mqttConnect:
		// The level stands behind the protocol's name, which has its length before it.
		if id != nil && 2+int(id[1]) < len(body) {
			t.five = body[2+int(id[1])] >= 5
		}
		if t.five {
			return packet(mqttConnack, 0, 0, 0)
		}
		return packet(mqttConnack, 0, 0)
	case kind == mqttPublish && first&6 != 0: // the quality of service
		if id == nil {
			return nil
		}
		at := 2 + int(id[0])<<8 + int(id[1]) // behind the topic
		if at+2 > len(body) {
			return nil
		}
		if first&6 == 2 {
			return packet(mqttPuback, body[at:at+2]...)
		}
		return packet(mqttPubrec, body[at:at+2]...)
	case kind == mqttPubrel && id != nil:
		return packet(mqttPubcomp, id...)
	case kind == mqttSubscribe && id != nil:
		return t.acknowledged(mqttSuback, body)
	case kind == mqttUnsubscribe && id != nil && !t.five:
		return packet(mqttUnsuback, id...)
	case kind == mqttUnsubscribe && id != nil:
		return t.acknowledged(mqttUnsuback, body)
	case kind == mqttPingreq:
		return packet(mqttPingresp)
	case kind == mqttDisconnect:
		t.quit = true
	}
	return nil
}

// acknowledged says of each topic of a packet that it is well.
func (t *dialogue) acknowledged(kind byte, body []byte) []byte {
	out, at := append([]byte(nil), body[:2]...), 2
	if t.five {
		out = append(out, 0)
		if at < len(body) {
			at += 1 + int(body[at]) // properties, whose length has one byte if they are few
		}
	}
	for at+2 <= len(body) && len(out) < 100 {
		at += 2 + int(body[at])<<8 + int(body[at+1])
		if kind == mqttSuback {
			at++ // the options
		}
		out = append(out, 0)
	}
	return append([]byte{kind << 4, byte(len(out))}, out...)
}
