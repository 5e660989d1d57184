// Package oracle holds no code, only tests that compare this library with others that do the same work. It is a module
// of its own, so that what it compares with is in nobody's module graph.
package oracle
