package taint

import "slices"

// makers make an object of a text.
var makers = map[string]string{"URL": "url", "url.URL": "url", "url.parse": "url", "url.pathToFileURL": "url", "urllib.parse.urlparse": "url", "urllib.parse.urlsplit": "url", "net/url.Parse": "url", "yarl.URL": "url", "httpx.URL": "url"}

// madeURL is the object that a maker makes of its first argument, and of a base.
func (f *frame) madeURL(made string, c *callInfo) *value {
	if len(c.args) == 0 {
		return nothing
	}
	out := *c.args[0].plain()
	if len(c.args) > 1 && c.args[1].tainted() {
		out = *merge(&out, c.args[1].plain())
	}
	if out.tainted() {
		out.made = made
	}
	return &out
}

// requestParts are the arguments of what makes a request: only its address says where it goes.
func requestParts(c *callInfo) []*value {
	out := slices.Clone(c.args)
	for i := 1; i < len(out); i++ {
		out[i] = out[i].safer(request)
	}
	for _, k := range sortedKeys(c.named) {
		v := c.named[k]
		if k != "url" {
			v = v.safer(request)
		}
		out = append(out, v)
	}
	return out
}
