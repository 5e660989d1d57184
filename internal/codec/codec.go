// Package codec writes messages and queries as requests, and reads responses, under the names of a contract.
package codec

// KeyPair returns a key and its secret. It is a function so that package fmt cannot print the secret. It is nil if requests carry no key
// pair.
type KeyPair func() (key, secret string)
