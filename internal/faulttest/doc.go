// Package faulttest tests the whole library from outside, through its public API. It has no code of its own.
//
//   - matrix_test.go: the fault matrix breaks connections in every way; testdata/matrix.md has the outcomes. fault_test.go and cell_test.go
//     have its types, peer_test.go and http2_test.go the other end of a connection, table_test.go the table.
//   - connection_test.go, retry_test.go, first_test.go: single promises.
//   - soak_test.go, ledger_test.go, differential_test.go: sends through random faults, compared with what the service has.
//   - storm_test.go, trouble_test.go, sendall_test.go, pacing_test.go: a service in trouble or at its limit, in the time of synctest.
//   - bounds_test.go, receiver_test.go: memory while a peer sends too much.
//   - redaction_test.go: prints everything that could hold a secret.
//   - client_test.go, channel_test.go: the clients, messages and channels that the tests share.
package faulttest
