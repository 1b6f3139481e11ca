package reassembly

import (
	"net/url"
	"strconv"
)

func itoa(n int) string { return strconv.Itoa(n) }

// endpoint is the path and the query of the address that an older server names.
func endpoint(data string) string {
	u, err := url.Parse(data)
	if err != nil {
		return data
	}
	return u.RequestURI()
}
