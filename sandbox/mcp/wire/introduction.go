package wire

import (
	"bytes"
	"encoding/json"
)

// The methods with which a session begins: initialize up to the version
// 2025-11-25, server/discover from 2026-07-28, the era without sessions.
const (
	MethodInitialize  = "initialize"
	MethodInitialized = "notifications/initialized"
	MethodDiscover    = "server/discover"
)

// The members of _meta in which the era without sessions says what initialize
// says before.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaServer       = metaPrefix + "serverInfo"
)

// maxSupported bounds the versions that a server names.
const maxSupported = 64

// Introduction is what a server says of itself in its answer to initialize or
// server/discover. A member of a wrong type counts as absent, and so does null.
type Introduction struct {
	// Protocol is the version that was agreed on, Supported are those that the
	// server offers: the former belongs to the older era, the latter to the newer.
	Protocol  string
	Supported []string
	// Server is who it says it is, ServerInfo the object that says so, nil when absent.
	Server     Implementation
	ServerInfo json.RawMessage
	// Instructions are RawInstructions where that is a text.
	Instructions    string
	RawInstructions json.RawMessage
	// Capabilities is the raw object, nil when absent.
	Capabilities json.RawMessage
}

// Version is Protocol, or the first version of Supported where there is none.
func (in *Introduction) Version() string {
	if in.Protocol == "" && len(in.Supported) > 0 {
		return in.Supported[0]
	}
	return in.Protocol
}

// ReadIntroduction reads an answer's result; ok is false for one that is no object.
// The era without sessions names the server in _meta: that counts where serverInfo
// has no name. Nothing in it shares memory with result.
func ReadIntroduction(result json.RawMessage) (in *Introduction, ok bool) {
	if CheckJSON(result) != nil {
		return nil, false
	}
	in = &Introduction{}
	var beside json.RawMessage
	if !EachMember(bytes.Clone(result), func(key string, value json.RawMessage) {
		if value[0] == 'n' {
			return
		}
		switch key {
		case "protocolVersion":
			in.Protocol, _ = Text(value)
		case "supportedVersions":
			in.Supported = versions(value)
		case "serverInfo":
			in.ServerInfo = value
		case "instructions":
			in.RawInstructions = value
			in.Instructions, _ = Text(value)
		case "capabilities":
			in.Capabilities = value
		case "_meta":
			beside, _ = Member(value, metaServer)
		}
	}) {
		return nil, false
	}
	in.Server = readImplementation(in.ServerInfo)
	if in.Server.Name == "" && beside != nil && beside[0] != 'n' {
		in.ServerInfo, in.Server = beside, readImplementation(beside)
	}
	return in, true
}

// versions are the texts of an array, the first of them.
func versions(value json.RawMessage) (out []string) {
	WalkArray(value, func(_ int, v []byte) {
		if s, ok := Text(v); ok && len(out) < maxSupported {
			out = append(out, s)
		}
	})
	return out
}

// readImplementation reads who a program says it is, as far as it can be read.
func readImplementation(info json.RawMessage) (i Implementation) {
	Walk(info, func(key, value []byte) {
		switch string(key) {
		case "name":
			i.Name, _ = Text(value)
		case "title":
			i.Title, _ = Text(value)
		case "version":
			i.Version, _ = Text(value)
		case "websiteUrl":
			i.WebsiteURL, _ = Text(value)
		}
	})
	return i
}

// The bounds of a set of names.
const (
	maxNames = 256
	maxName  = 1 << 10
)

// names are an object's keys; an empty set where it has none. Null counts as absent.
func names(obj json.RawMessage) map[string]bool {
	out := map[string]bool{}
	Walk(obj, func(key, value []byte) {
		if len(out) < maxNames && len(key) <= maxName && value[0] != 'n' {
			out[string(key)] = true
		}
	})
	return out
}
