// Package docker makes sandboxes of containers, through the API of a Docker Engine.
//
// It must never pull an image, mount anything of the host into a container, or
// touch a container that is not its own; and it must leave none behind.
package docker
