// Package faulttest tests the whole library from outside, through its public API and over real connections. It has no code
// of its own.
//
//   - The fault matrix breaks connections in every way; testdata/matrix.md has the outcomes.
//   - The soak sends through random faults and compares what callers were told with what the service has.
//   - The bounds measure memory while a peer sends too much.
//   - The redaction tests print everything that could hold a secret.
package faulttest
