// Package oracle holds tests that compare this library with others that do the same work. It has no code. It is a module of its own to
// keep those libraries out of other module graphs.
package oracle
