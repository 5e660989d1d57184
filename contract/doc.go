// Package contract holds the wire names of the messaging service: the paths, fields, parameters, codes and words that the
// client and the webhooks put into requests and look for in what comes back.
//
// The service's specification gives few of them: the four paths, the name ttl, the Authorization header, and GET as the
// method of the callbacks. Every other name is a default, chosen from what services of this shape commonly use. A default is a
// default and not a fact of the service: compare the table with the documentation of your account, and change what differs.
// No code has to change for that, only a contract:
//
//	wire, err := contract.Parse([]byte(`{
//		"sms.send":    {"fields": {"from": "sender.id", "text": "message"}, "constants": {"app": "billing"}},
//		"sms.list":    {"items": ["rows"], "time": "unix", "params": {"offset": "start"}, "paging": {"by": "offset"}},
//		"webhook.sms": {"params": {"from": ["msisdn"], "text": ["body"]}}
//	}`))
//	if err != nil {
//		log.Fatal(err) // names each problem, its place, and what may stand there
//	}
//	client, err := messaging.NewClient(url, messaging.WithToken(token), messaging.WithContract(wire))
//
// Such an overlay names what differs from the default and nothing else. The same can be written in Go:
//
//	wire := contract.Default()
//	wire.SMSSend.Fields.From = "sender.id"
//
// # Merging
//
// Objects are merged key by key. A list replaces the default's list. Under "constants" an entry is added or replaced; under
// "with" the entry of a field is replaced whole, so that {"callback": {}} drops what goes with a callback by default. Keys are
// case-sensitive, and no key exists but those of the complete table, which is what [Default] marshals to. An unknown or
// repeated key, null (other than within a constant), a value of the wrong kind and text after the object are refused.
//
// # Grammar
//
//	auth.token.header          a header that neither the client nor net/http writes itself
//	auth.token.scheme          a word, or "" for none
//	auth.keyPair.in            body (the query of a GET), query, header, basic
//	auth.keyPair.key, secret   names; with basic unused, with header as auth.token.header
//	errors.code                list of answer paths; so errors.message, errors.request
//	errors.classes             lists of codes; * at the end stands for any ending; no entry in two classes
//	errors.notProcessed        list of HTTP statuses, 300 to 599
//
//	path                       begins with a single /; no query, fragment, space, . or .. segment
//	encoding                   json, form, query
//	fields, params (requests)  a name, or "": the service has no such parameter
//	constants                  name to any JSON value but null
//	with                       key of fields to names and values as in constants
//	wrap                       a name, or "": the message stands at the top level
//	ttl                        s, ms, m
//	answer, page, record       lists of answer paths
//	accepted                   list of words
//
//	time                       rfc3339ms, rfc3339, unix, unixms, datetime, date
//	paging.by                  page, offset, cursor, none; see below
//	paging.first               0 or more
//	orders                     two different values
//	items                      list of answer paths, one at least; "" is the answer itself
//	zone                       a name of the tz database, or "" for UTC
//
//	params (webhooks)          lists of names
//	statuses                   lists of words and integers, as strings, in any case; none under two statuses
//	placeholders               a text, or "": the service has no such placeholder
//
// A name has 1 to 256 bytes, valid UTF-8 without control characters. In a JSON body a dot nests, be it in the name of a field, of a
// constant, of a wrap or of a key pair: sender.id is the member id of the object sender. In a query or a form, dots and brackets
// are part of the name. Within one request no two names may be equal, constants, "with" entries and a key pair beside the
// parameters included, and in a JSON body none may lie within another (sender and sender.id).
//
// An answer path is a list of members and list positions with dots between them: messages.0.id; "" is the document itself. Of several the first
// that is present and not null wins. Of the names of a webhook's list, the first whose parameter is present and not blank
// wins.
//
// Paging by page needs sms.list.params.page, by offset sms.list.params.offset, and by cursor sms.list.params.cursor and
// sms.list.page.next. The parameters for offset and cursor are "" by default, so an overlay that changes the paging names them
// too; a listing that cannot ask for its next page is refused when it is asked for.
//
// A path is all that a contract says about where a request goes: it cannot lead credentials to another host.
//
// [ParseTime] reads the times of rows and callbacks, in every form that was met.
package contract
