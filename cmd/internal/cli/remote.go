package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/remote"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// remoteFlags are the flags about a remote server, as they were given and as they were read.
type remoteFlags struct {
	url      string
	headers  []string
	calls    []string
	readOnly bool
	made     []plan.RemoteCall
}

// given names a flag that means nothing without a remote server, "" for none.
func (f *remoteFlags) given() string {
	switch {
	case len(f.headers) > 0:
		return "--header-env"
	case len(f.calls) > 0:
		return "--call"
	case f.readOnly:
		return "--call-read-only"
	}
	return ""
}

// headerName is that of a header (RFC 9110, section 5.6.2).
var headerName = regexp.MustCompile("^[-!#$%&'*+.^_`|~0-9A-Za-z]+$")

// check reads --call, and says which of the flags is wrong.
func (f *remoteFlags) check() error {
	f.made = nil
	for _, c := range f.calls {
		name, args, ok := strings.Cut(c, "=")
		if args == "" {
			args = "{}"
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &members); !ok || name == "" || err != nil || members == nil {
			return usage(`for example --call 'search={"query":"hello"}'`, "--call %.100q is not a NAME=JSON with a JSON object", c)
		}
		f.made = append(f.made, plan.RemoteCall{Name: name, Args: json.RawMessage(args)})
	}
	return nil
}

// target is the remote server at an address, with the headers of --header-env.
func (f *remoteFlags) target(address string) (*plan.Remote, error) {
	if _, err := remote.Address(address); err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "for example --url https://example.com/mcp"}
	}
	r := &plan.Remote{Address: address, Header: map[string]string{}, Variables: map[string]string{}, Calls: f.made, CallReadOnly: f.readOnly}
	for _, h := range f.headers {
		header, variable, _ := strings.Cut(h, "=")
		if !headerName.MatchString(header) || variable == "" {
			return nil, usage("for example --header-env Authorization=MCP_TOKEN", "--header-env %.100q is not a HEADER=NAME", h)
		}
		if err := send(r, header, variable, ""); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// send has a request carry the value of a variable. An Authorization without a scheme is a
// bearer token (RFC 6750).
func send(r *plan.Remote, header, variable, form string) error {
	value := os.Getenv(variable)
	if value == "" || strings.ContainsAny(value, "\r\n\x00") {
		return usage("set it to the credential", "the variable %.100q for the header %.100q is empty or not fit for a header", variable, header)
	}
	r.Secrets = append(r.Secrets, value)
	r.Variables[header] = variable
	if _, token, ok := strings.Cut(value, " "); ok {
		r.Secrets = append(r.Secrets, token)
	} else if form == "" && http.CanonicalHeaderKey(header) == "Authorization" {
		value = "Bearer " + value
	}
	if form != "" {
		value = strings.Replace(form, "\x00", value, 1)
	}
	r.Header[header] = value
	return nil
}

// remoteRun is what --url asks for.
func (f *probeFlags) remoteRun(args []string) ([]plan.Options, error) {
	switch {
	case len(args) > 0 || f.config != "":
		return nil, usage("remove the others", "--url, --config and a command exclude each other")
	case f.replay != "" || len(f.Vary) > 0 || f.dryRun:
		return nil, usage("remove the others", "--replay, --vary and --dry-run need a sandbox, and --url has none")
	}
	o := f.Options
	var err error
	o.Remote, err = f.remote.target(f.remote.url)
	return []plan.Options{o}, err
}

// variableRef is a reference to a variable in a configuration's header: ${NAME} or ${env:NAME}.
var variableRef = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}`)

// configured is a configuration's remote server. Of its headers those with a variable are
// sent: a secret that stands in the file itself is not.
func (f *probeFlags) configured(s *config.Server) (*plan.Remote, error) {
	address := s.URL
	r, err := f.remote.target(address)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: server %q: %w", f.config, s.Line, s.Name, err)
	}
	for header, value := range s.Headers {
		at := variableRef.FindStringSubmatchIndex(value)
		if at == nil || r.Header[header] != "" || !headerName.MatchString(header) {
			continue
		}
		form := value[:at[0]] + "\x00" + value[at[1]:]
		if variableRef.MatchString(form) || strings.ContainsAny(form, "\r\n") {
			return nil, fmt.Errorf("%s:%d: server %q: the header %.100q has more than one variable", f.config, s.Line, s.Name, header)
		}
		if err := send(r, header, value[at[2]:at[3]], form); err != nil {
			return nil, fmt.Errorf("%s:%d: server %q: %w", f.config, s.Line, s.Name, err)
		}
	}
	return r, nil
}
