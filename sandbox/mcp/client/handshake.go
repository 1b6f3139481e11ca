package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The methods and versions of the two eras.
const (
	methodDiscover   = wire.MethodDiscover
	methodInitialize = wire.MethodInitialize
	// methodInitialized is the notification that ends the older handshake.
	methodInitialized = wire.MethodInitialized
	// firstModern is the first version without a session.
	firstModern = "2026-07-28"
	// lastLegacy is the last version that is negotiated by initialize.
	lastLegacy = "2025-11-25"
	// maxVersion bounds a version that a server may claim.
	maxVersion = 64
)

// Connect opens the session: server/discover, and initialize if the server
// refuses it or stays silent. The Surface has all but the lists.
func (c *Client) Connect(ctx context.Context) (*wire.Surface, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.HandshakeTimeout, ErrTimeout)
	defer cancel()
	h, version, err := c.negotiate(ctx)
	if err != nil && c.answeredLate() && ctx.Err() == nil && c.ended() == nil {
		// A server of the modern era only, which started more slowly than
		// DiscoverTimeout, has refused initialize by now.
		c.note(Handshake, "server/discover was answered late and asked again")
		h, version, err = c.negotiate(ctx)
	}
	if err != nil {
		var usable bool
		if version, usable = c.salvage(h, err); !usable {
			return nil, c.explain(ctx, h, err)
		}
	}
	return c.finishHandshake(h, version)
}

func (c *Client) answeredLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lateDiscover
}

// negotiate lets the SDK conduct the handshake and returns its connection,
// with the raw results, and the version agreed on.
func (c *Client) negotiate(ctx context.Context) (h *handshake, version string, err error) {
	h = newHandshake(c)
	defer h.end()
	defer func() {
		// The SDK decodes hostile results on this goroutine.
		if r := recover(); r != nil {
			err = fmt.Errorf("handshake: the answer cannot be decoded: %v", r)
		}
	}()
	capabilities := &mcp.ClientCapabilities{}
	if c.opts.Declines {
		capabilities.Elicitation = &mcp.ElicitationCapabilities{}
	}
	if len(c.opts.Roots) > 0 {
		capabilities.RootsV2 = &mcp.RootCapabilities{} //nolint:staticcheck // deprecated, yet what servers of every version know
	}
	if c.opts.Model != "" {
		capabilities.Sampling = &mcp.SamplingCapabilities{} //nolint:staticcheck // the same
	}
	info := c.opts.Info
	sdk := mcp.NewClient(
		&mcp.Implementation{Name: info.Name, Title: info.Title, Version: info.Version},
		&mcp.ClientOptions{Capabilities: capabilities},
	)
	options := &mcp.ClientSessionOptions{}
	if c.opts.SkipDiscover {
		options.ProtocolVersion = lastLegacy
	}
	session, err := sdk.Connect(ctx, h, options)
	if err != nil {
		return h, "", err
	}
	version = session.InitializeResult().ProtocolVersion
	// The SDK's session is done: nothing is sent by closing it.
	if err := session.Close(); err != nil {
		return h, "", fmt.Errorf("handshake: %w", err)
	}
	return h, version, nil
}

// salvage accepts an answer to initialize that the SDK does not, for a version
// that it does not know or for a member of the wrong type, as long as it names
// a version: what the server does after that is what a probe is for.
func (c *Client) salvage(h *handshake, cause error) (version string, ok bool) {
	raw, _ := h.result(methodInitialize)
	in, ok := wire.ReadIntroduction(raw)
	if !ok || in.Protocol == "" || len(in.Protocol) > maxVersion || c.ended() != nil {
		return "", false
	}
	c.note(Handshake, "the answer to initialize was accepted although: %s", clipped(cause))
	c.notify(methodInitialized, struct{}{})
	return in.Protocol, true
}

// explain says why a handshake failed in words of ours where we know better.
func (c *Client) explain(ctx context.Context, h *handshake, err error) error {
	ended := c.ended()
	switch {
	case h.wasRefused(methodInitialize):
		// Whether the server ends after that, and how soon, says nothing more.
		return fmt.Errorf("handshake: %w", err)
	case ended != nil && h.asked(methodDiscover) && (!h.asked(methodInitialize) || !c.answeredLate()):
		// The server may have read both, and ends at the first.
		return fmt.Errorf("handshake: %w: %w", ErrEndedAtDiscover, ended)
	case ended != nil:
		return fmt.Errorf("handshake: %w", ended)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		// The SDK may see the deadline a moment before the context's cause is set.
		return fmt.Errorf("handshake: %w (%s)", ErrTimeout, c.opts.HandshakeTimeout)
	case ctx.Err() != nil:
		return fmt.Errorf("handshake: %w", context.Cause(ctx))
	}
	return fmt.Errorf("handshake: %w", err)
}

// finishHandshake fixes the era and reads the declarations from the raw result.
func (c *Client) finishHandshake(h *handshake, version string) (*wire.Surface, error) {
	raw, legacy := h.result(methodInitialize)
	if !legacy {
		raw, _ = h.result(methodDiscover)
	}
	in, ok := wire.ReadIntroduction(raw)
	if !ok {
		return nil, fmt.Errorf("handshake: %w", ErrBadAnswer)
	}
	s := &wire.Surface{Protocol: version, Capabilities: in.Capabilities, Instructions: in.Instructions, Server: in.Server}
	if legacy && (version < firstModern || !slices.Contains(mcp.SupportedProtocolVersions(), version)) {
		return s, nil
	}
	meta, err := c.requestMeta(version)
	if err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.meta = meta
	return s, nil
}

// requestMeta is what each request of the modern era says about the client.
func (c *Client) requestMeta(version string) (json.RawMessage, error) {
	info := map[string]string{"name": c.opts.Info.Name, "version": c.opts.Info.Version}
	if c.opts.Info.Title != "" {
		info["title"] = c.opts.Info.Title
	}
	capabilities := map[string]any{}
	if c.opts.Declines {
		capabilities["elicitation"] = map[string]any{}
	}
	if len(c.opts.Roots) > 0 {
		capabilities["roots"] = map[string]any{}
	}
	if c.opts.Model != "" {
		capabilities["sampling"] = map[string]any{}
	}
	return encode(map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientInfo:         info,
		mcp.MetaKeyClientCapabilities: capabilities,
	})
}
