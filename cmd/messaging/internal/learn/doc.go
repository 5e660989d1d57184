// Package learn writes an overlay of the contract from the examples of a provider's documentation: a request with known values in it,
// responses, a row of a listing, and callbacks.
//
// A member with a known value has that concept, and everything else in the request is a constant. Comments name what the examples do not show.
// At the end the client and the receiver of the library replay each example with the new contract. An overlay with a wrong result is never
// written.
//
// The command (command.go) takes these steps:
//
//  1. It gets the text of the examples from files or from a person (input.go, ask.go).
//  2. Parse splits the text into examples (examples.go, example.go) and checks the lines of each (kinds.go). Requests are curl commands
//     (curl.go, curl_option.go, shell.go), HTTP, or a body (request.go).
//  3. Learn (learn.go) learns from each kind of example in turn, and writes into the overlay (overlay.go). The table below has the files.
//  4. It replays the examples (replay.go and replay_….go) against a stub of the service (stub.go).
//  5. It adds comments about what the examples do not show (hints.go and …_hints.go, money.go, row_status.go), and writes the overlay as JSON
//     (overlay_text.go, notes.go, output.go).
//
// Which file learns what:
//
//	request   send.go, with headers.go and credentials.go; placeholders.go for its callback URL
//	accepted  accepted.go for the ID and other values; status.go for the status, which candidate.go finds
//	refused   refused.go, with codes.go and classes.go
//	row       listing.go and listing_request.go; page.go and cursor.go for the paging, order.go for the order
//	inbound   callback.go
//	delivery  callback.go; statuses.go for the words of the status, which rows have too
//
// All of these see a document as a list of leaves, which are its values with their paths (leaf.go, path.go), and know what documentation calls a
// member by patterns of names (names.go).
package learn
