package canaries

// The credentials that a cloud's metadata service hands out. They stand in no
// file: whoever has one has asked for it.
const (
	MetadataKeyID   = "metadata-aws-key-id"
	MetadataSecret  = "metadata-aws-secret"
	MetadataSession = "metadata-aws-session"
	MetadataToken   = "metadata-token"
)

// awsCredentials is below it that AWS hands out keys.
const awsCredentials = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"

// plantMetadata mints what the metadata service says.
func (h *home) plantMetadata() {
	m := h.mint
	add := func(id, url, value string, issuers ...string) {
		h.list = append(h.list, Canary{ID: id, Kind: "metadata", Value: value, URL: url, Issuers: issuers})
	}
	add(MetadataKeyID, awsCredentials, m.awsKeyID("ASIA"), "*.amazonaws.com")
	add(MetadataSecret, awsCredentials, m.prefixed("", base62+"+/", 40))
	add(MetadataSession, awsCredentials, m.prefixed("IQoJb3JpZ2luX2VjE", base62+"+/", 240), "*.amazonaws.com")
	add(MetadataToken, "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token",
		m.prefixed("ya29.c.", base62, 140), "*.googleapis.com")
}

// Value is the value of the canary with this id, "" where there is none.
func (s *Set) Value(id string) string {
	for _, c := range s.list {
		if c.ID == id {
			return c.Value
		}
	}
	return ""
}
