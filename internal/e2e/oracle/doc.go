// Package oracle holds tests of this library beside others: those that do the same work, and routers that mount its handlers. It has
// no code. It is a module of its own to keep those libraries out of other module graphs.
package oracle
