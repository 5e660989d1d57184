// Package contract holds the wire names of the messaging service: the paths, fields, parameters, codes and words that the
// client and the webhooks put into requests and look for in what comes back.
//
// The service's specification states few of them: the four paths, the name ttl, the Authorization header, and GET as the method
// of the callbacks. Every other name in [Default] is this library's choice from what such services commonly use, not a fact
// about the service. Compare the table with the documentation of your account, and write an overlay with what differs:
//
//	names, err := contract.Parse([]byte(`{
//		"sms.send":    {"fields": {"from": "sender.id", "text": "message"}, "constants": {"app": "billing"}},
//		"sms.list":    {"items": ["rows"], "time": "unix", "params": {"offset": "start"}, "paging": {"by": "offset"}},
//		"webhook.sms": {"params": {"from": ["msisdn"], "text": ["body"]}}
//	}`))
//	if err != nil {
//		log.Fatal(err) // names each problem, its place, and what is allowed there
//	}
//	client, err := messaging.NewClient(url, messaging.WithToken(token), messaging.WithContract(names))
//
// # Merging
//
// An overlay holds the keys of the complete table, which is what Default marshals to, and no others. Objects are merged
// key by key. A list replaces the default's list. Under "constants" an entry is added or replaced. Under "with" the entry
// of a field is replaced, so that {"callback": {}} drops what goes with a callback by default.
//
// Keys are case-sensitive. An unknown or repeated key, null (except within a constant), a value of the wrong kind, and text
// after the object are errors. An overlay may have at most 64 KiB and 16 levels, a list 256 entries, and an operation 256
// constants, including those under "with".
//
// # Grammar
//
//	auth.token.header          a header that neither the client nor net/http writes itself
//	auth.token.scheme          a word, or "" for none
//	auth.keyPair.in            body (the query of a GET), query, header, basic
//	auth.keyPair.key, secret   names; unused with basic; with header, headers like auth.token.header
//	errors.code                paths; also errors.message, errors.request
//	errors.success             codes, in any case, that a response may hold although the message was accepted
//	errors.classes             by class, codes; a code that ends in * stands for all with that prefix; exact codes win, then the
//	                           longest prefix; no code in two classes, or in a class and in errors.success
//	errors.notProcessed        HTTP statuses, 300 to 599, which prove that a send was not processed, so that it may be
//	                           retried; a status that is here by mistake makes messages go out twice
//
//	path                       begins with a single /; no query, fragment, space, . or .. segment
//	encoding                   json, form, query
//	fields, params (requests)  by concept, a name, or "" if the service has no such parameter: using it is then an error
//	constants                  by name, what goes with every request: any JSON value but null; with form and query, and in
//	                           sms.list, a string, number or boolean
//	with                       by concept of fields, constants that go with a request that sends the field
//	wrap                       the name under which a chat-app-2 message goes, or "" for the top level, beside fields
//	ttl                        the unit of a lifetime, which is sent as a whole number: s, ms, m
//	response, page, record     by concept, paths
//	accepted                   words, in any case, that the status of an accepted message may be; with any other status the
//	                           outcome of a send is unknown
//
//	time                       how times are written: rfc3339ms, rfc3339, unix, unixms, datetime, date
//	paging.by                  page, offset, cursor, none; see below
//	paging.first               the number of the first page, 0 or more
//	orders                     two different values for the parameter order
//	items                      paths of the list of rows, at least one
//	zone                       of times that name none: a name of the tz database, or "" for UTC
//
//	params (webhooks)          by concept, names; json lists the parameters that may hold a message in the platform's shape
//	statuses                   by status, words and integers, as strings, in any case; none under two statuses
//	placeholders               by concept, a text that the service replaces in a callback URL, or "" if it has none
//
// A name has 1 to 256 bytes of valid UTF-8 without control characters. In a JSON body a dot nests: sender.id is the member
// id of the object sender. In a query or a form, dots and brackets are part of the name, and an object or a list is written
// as JSON. Within one request no two names may be equal, including constants, "with" and a key pair beside the fields. In a
// JSON body no name may lie within another (sender and sender.id).
//
// A path is a list of members and positions with dots between them, such as messages.0.id; "" is the document itself. Of
// several paths, or of several names of a webhook's parameter, the first that is present and holds a value counts.
//
// Paging by page needs sms.list.params.page; by offset, sms.list.params.offset; by cursor, sms.list.params.cursor and
// sms.list.page.next. The parameters offset and cursor are "" by default, so an overlay that changes the paging names them.
// A listing that cannot ask for its next page is an error when it begins.
//
// The path of an operation is all that a contract says about where a request goes: it cannot send credentials to another
// host.
package contract
