// Package comment keeps one comment of coalmine's on a pull request of GitHub, through the REST
// API.
//
// It must never change a comment that another author wrote, send its token to another host than
// the API's, or print the token.
//
// Source: docs.github.com, "REST API endpoints for issue comments".
package comment
