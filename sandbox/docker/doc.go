// Package docker makes sandboxes of containers, through the API of a Docker Engine.
//
// A sandbox is made of an image that the engine has. Only Pull, for a caller whose
// user named an image, has the user's own docker fetch one that is missing.
//
// It must never pull an image to make a sandbox, mount anything of the host into a
// container, or touch a container that is not its own; and it must leave none behind.
package docker
