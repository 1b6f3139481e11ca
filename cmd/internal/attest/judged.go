package attest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/coalmine-dev/coalmine/analyze"
)

// JudgedBy is the digest of the texts of the user's own by which a run is judged: policy, rules
// and baseline, by their content alone. What compares a run with another one has no digest.
func JudgedBy(in *analyze.Inputs) (string, error) {
	if len(in.Earlier) > 0 {
		return "", errors.New("the run was compared with an earlier one or a lock")
	}
	if len(in.Changed) > 0 {
		return "", errors.New("the change under review changes what the run is judged by")
	}
	parts := [][]string{nil, nil, nil, nil}
	for i, files := range [][]analyze.File{one(in.Policy), in.PolicyRules, in.Rules, one(in.Baseline)} {
		for _, f := range files {
			parts[i] = append(parts[i], f.Text)
		}
	}
	data, err := json.Marshal(parts)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func one(f *analyze.File) []analyze.File {
	if f == nil {
		return nil
	}
	return []analyze.File{*f}
}
