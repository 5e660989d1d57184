// Package oracle compares this library with libraries that do the same work, and tests its handlers on third-party routers. It has only
// tests.
package oracle
