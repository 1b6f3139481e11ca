// Package mux carries several byte streams and their time stamps over one pipe,
// as length-prefixed frames between the host and the agent.
//
// It must never look into a payload, nor trust a length that the other side wrote.
package mux
