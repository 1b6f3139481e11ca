package attest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// maxEnvelope bounds an envelope's text, in bytes; maxSignatures the signatures of one.
const (
	maxEnvelope   = 64 << 10
	maxSignatures = 16
)

// ErrForged says that no trusted key made the signature of an envelope.
var ErrForged = errors.New("no trusted key signed it")

// Sign puts a statement into an envelope, which is one line of JSON.
func Sign(ctx context.Context, s *Statement, key *Signer) ([]byte, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	signer, err := dsse.NewEnvelopeSigner(key)
	if err != nil {
		return nil, err
	}
	e, err := signer.SignPayload(ctx, PayloadType, payload)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(e)
	if err == nil && len(line) > maxEnvelope {
		err = fmt.Errorf("an attestation of %d bytes is longer than %d", len(line), maxEnvelope)
	}
	return append(line, '\n'), err
}

// Open checks the signature of an envelope and returns its statement, which speaks for
// nothing before Accepts has compared it with what is asked.
func Open(ctx context.Context, line []byte, keys []*Verifier) (*Statement, error) {
	if len(line) > maxEnvelope {
		return nil, fmt.Errorf("it is longer than %d bytes", maxEnvelope)
	}
	var e dsse.Envelope
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(&e); err != nil {
		return nil, errors.New("it is no DSSE envelope")
	}
	if e.PayloadType != PayloadType {
		return nil, fmt.Errorf("its payload is %.80q, not %s", e.PayloadType, PayloadType)
	}
	if len(e.Signatures) == 0 || len(e.Signatures) > maxSignatures {
		return nil, fmt.Errorf("it has %d signatures", len(e.Signatures))
	}
	// Each key is tried by itself: the library counts keys, and one is enough here.
	for _, key := range keys {
		v, err := dsse.NewEnvelopeVerifier(key)
		if err != nil {
			return nil, err
		}
		if _, payload, err := v.VerifyAndDecode(ctx, &e); err == nil {
			return decode(payload)
		}
	}
	return nil, ErrForged
}
