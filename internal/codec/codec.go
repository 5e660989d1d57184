// Package codec is a compiled contract: it writes requests under the names of the contract and reads answers wherever
// the contract says that things stand. Package contract knows names and grammar, this one what to do with them; the
// root package compiles the one into the other once, when a client is made.
package codec
