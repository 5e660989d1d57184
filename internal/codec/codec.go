// Package codec compiles a contract, writes messages and queries as requests under its names, and reads responses.
//
// An operation, Send (send.go) or List (list.go), is compiled once. It holds the contract in these formats, which never change:
//
//	requestFormat   (request.go)          names and forms of a request
//	responseFormat  (response_format.go)  paths in a response, and how it reports a failure
//	messageFormat   (message_format.go)   a responseFormat with the paths of a sent message
//	rowFormat       (row_format.go)       paths in a row of a listing
//
// For each request, Encode turns fields into members, or returns problems (encode.go, list.go). Members become JSON, a form or a query in
// request_body.go, nested by request_tree.go. Extra fields are checked in encode_extra.go, and CheckNames (check.go) checks the names of a
// contract beforehand.
//
// For each response to a send, Decode (response.go) finds the values at all paths in one pass (document.go). Then:
//
//   - What became of the message? message.go decides, with the error codes of failure.go. message_elements.go reads lists of messages.
//   - Does anything else report a failure? scan.go goes through the whole response by names, which name_kind.go and scan_names.go explain.
//   - Which ID may it be, if the contract has no path to it? recognize.go asks scan_ids.go.
//
// For each page of a listing, List.Decode (page.go) reads the rows in the same pass (rows.go). hints.go looks for a failure outside the
// rows. From the evidence of page_evidence.go, page_end.go finds the next page (link.go follows links), and page_missing.go signs of missing
// rows. list_position.go saves the place in a listing.
//
// For each row, row.go finds its values. row_field.go fills the transaction, row_status.go says what became of the message, and row_extra.go
// keeps the rest.
package codec

// KeyPair returns a key and its secret. It is a function so that package fmt cannot print the secret. It is nil if requests carry no key
// pair.
type KeyPair func() (key, secret string)
