// Package contract holds the wire names of the messaging service: the paths, fields, parameters, codes and words that the client writes and
// reads, and that webhooks read.
//
// The service's specification states few of them: the four paths, the name ttl, the Authorization header, and GET as the method
// of the callbacks. Every other name in [Default] is a guess from the names that such services commonly use. Compare the table with the
// documentation of your account, and write an overlay with the differences:
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
// https://github.com/messaging-service/messaging-go/blob/main/docs/contract.md shows step by step how to write an overlay, and what needs Go code,
// such as a send by GET. This is an overlay for an account whose names all differ from the defaults. It runs as the example of [Parse] named
// Account:
//
//	{
//		"auth": {"keyPair": {"in": "header", "key": "X-Api-Key", "secret": ""}},
//		"headers": {"X-Api-Version": "3"},
//		"errors": {
//			"code": ["fault.code"], "message": ["fault.text"], "request": ["trace"],
//			"classes": {
//				"invalid": ["E1*"], "insufficientBalance": ["E200"], "unauthorized": ["E3*"], "rateLimited": [],
//				"duplicate": [], "notFound": [], "unavailable": []
//			}
//		},
//		"sms.send": {
//			"path": "/v3/accounts/AC42/messages",
//			"fields": {
//				"from": "messages.0.from", "to": "messages.0.destinations.0.to", "text": "messages.0.content.text",
//				"callback": "messages.0.notifyUrl", "reference": "messages.0.destinations.0.messageId"
//			},
//			"constants": {"messages.0.content.type": "TEXT"},
//			"with": {"callback": {"messages.0.notifyType": "application/json"}},
//			"response": {
//				"id": ["messages.0.messageId"], "status": ["messages.0.status.name"],
//				"cost": ["messages.0.price.amount"], "currency": ["messages.0.price.currency"]
//			},
//			"scale": -4, "accepted": ["PENDING_*"], "refused": ["REJECTED_*"]
//		},
//		"sms.list": {
//			"path": "/v3/accounts/AC42/messages/search", "method": "POST", "encoding": "json",
//			"params": {
//				"createdAfter": "", "createdBefore": "", "id": "", "request": "", "category": "", "from": "",
//				"to": "", "page": "", "sortBy": "", "order": "", "reference": "filter.messageIds.0",
//				"pageSize": "limit", "cursor": "after"
//			},
//			"paging": {"by": "cursor"}, "items": ["results"], "page": {"next": ["$last.messageId"]},
//			"record": {
//				"id": ["messageId"], "reference": ["clientId"], "sent": ["sentAt"], "deliveryStatus": ["state"],
//				"price": ["price.amount"], "currency": ["price.currency"]
//			},
//			"layouts": ["02/01/2006 15:04"], "zone": "Europe/Madrid", "scale": -4
//		},
//		"webhook.sms": {
//			"encoding": "json", "events": ["data"],
//			"params": {"from": ["sender.phone"], "to": ["recipient"], "text": ["text"], "id": ["id"]}
//		},
//		"webhook.delivery": {
//			"encoding": "json", "events": ["results"],
//			"params": {
//				"id": ["messageId"], "reference": ["clientId"], "status": ["status.name"], "time": ["doneAt"]
//			},
//			"statuses": {"delivered": ["DELIVERED_*"], "failed": ["UNDELIVERABLE_*"], "rejected": ["REJECTED_*"]},
//			"layouts": ["02/01/2006 15:04"], "zone": "Europe/Madrid"
//		}
//	}
//
// It sends {"messages":[{"from":"ACME","destinations":[{"to":"639171234567"}],"content":{"text":"Hi","type":"TEXT"}}]}, takes
// {"messages":[{"messageId":"h-1","status":{"name":"PENDING_ENROUTE"},"price":{"amount":12345}}]} for accepted at a cost of
// 1.2345, and the same with REJECTED_ROUTE for refused.
//
// # Merging
//
// An overlay holds the keys of the complete table, which is what Default marshals to, and no others. Objects are merged
// key by key. A list replaces the default's list. Under "constants" and "headers" an entry is added or replaced. Under "with"
// the entry of a field is replaced, so that {"callback": {}} drops what goes with a callback by default.
//
// Keys are case-sensitive. A key that ends in // is a comment, with a value of any kind. An unknown or repeated key, null (except within a
// constant), a value of the wrong kind, and text after the object are errors, and so is what could never work, such as a word that both
// accepts and refuses. An overlay may have at most 64 KiB and 16 levels, a list 256 entries, and an operation 32 headers and 256
// constants, including those under "with".
//
// # Grammar: all operations
//
//	auth.token.header          a header that neither the client nor net/http writes itself
//	auth.token.scheme          a word, or "" for none
//	auth.keyPair.in            body (a request without one cannot carry it), query, header, basic
//	auth.keyPair.key, secret   names of members, parameters or headers, as "in" says; no header that the client or net/http writes
//	                           itself; unused with basic; secret is "" for a service with an API key alone
//	headers                    by name, the value of a header of every operation
//	errors.code                paths; also errors.message, errors.request
//	errors.success             codes, in any case, that a response may hold although the message was accepted
//	errors.classes             by class, codes; none in two classes, or in a class and in errors.success, and no "*" alone
//	errors.notProcessed        HTTP statuses, 300 to 599, that prove that a send was not processed, so that it is retried, if
//	                           the response is JSON, empty, or has Retry-After; from 500 on, if it has a code or a request
//	                           ID; a status that is here by mistake makes messages go out twice
//
// # Grammar: each operation
//
//	path                       begins with a single /; no query, fragment, space, . or .. segment; {account} is a variable that the
//	                           client gets by messaging.WithVariable, in lower-case letters, digits and _
//	headers                    like headers above, which they replace; "" leaves a header out
//	encoding                   json, form, query
//	constants                  by name, what goes with every request: any JSON value but null; with form and query, a string,
//	                           number or boolean
//	time                       how times are written: rfc3339ms, rfc3339, rfc1123, rfc2822, unix, unixms, datetime, date; in
//	                           JSON, unix and unixms are numbers
//	zone                       of times that name none: a name of the tz database, or "" for UTC; in the hour that a zone
//	                           repeats in autumn, the first is meant
//	scale                      the power of ten, -18 to 18, by which amounts of money are multiplied: -4 reads 12345 as 1.2345
//
// # Grammar: sends, such as sms.send
//
//	fields                     by concept, a name, or "" if the service has no such field: using it is then an error
//	with                       by concept of fields, constants that go with a request that sends the field; in sms.send, by gsm and
//	                           unicode, those of a text that takes this encoding
//	wrap                       the name under which a chat-app-2 message goes, or "" for the top level, next to fields
//	ttl                        the unit of a lifetime, which is a whole number of it: s, ms, m; any other duration is in whole seconds
//	response                   by concept, paths; no two of id, request and reference at one path, but see below; without
//	                           a path of id the words of the status decide alone; a * in those of id and status is every element
//	                           of a list, see below
//	accepted                   words that the status of an accepted message may be, in any case; no "*" alone
//	refused                    words of the status that say that the message was refused, in any case; with a status in neither
//	                           list, the outcome of a send is unknown
//
// # Grammar: sms.list
//
//	method                     GET, or POST, with which the encoding may be json or form
//	params                     by concept, a name, or "" if the service has no such parameter: using it is then an error
//	sorts                      by concept, the column in the parameter sortBy, or "" if the service cannot sort by it
//	orders                     two different values for the parameter order
//	paging.by                  page, offset, cursor, none; see below
//	paging.first               the number of the first page, 0 or more
//	paging.most, paging.whole  if by is none, one of them: how many rows the one page can hold, or true if it holds all
//	items                      paths of the list of rows, at least one
//	only                       by path from a row on, words; a row with another word there is not of this listing, such as a
//	                           received message; a row without the member is
//	page                       by concept, paths; in next, the path $last.id is the member id of the last row
//	record                     by concept, paths from a row on
//	layouts                    how else times are written, as in package time; a layout without an offset is in zone
//
// # Grammar: callbacks, such as webhook.sms
//
//	encoding                   how the service calls: query is a GET; form and json are a POST, which the receiver then takes.
//	                           The test server and the sandbox call in this way
//	params                     by concept, names, which may be paths in a JSON body; json lists the parameters that may hold a
//	                           message in the platform's shape
//	events                     paths at which a JSON body holds one event or a list of them; the first that holds any counts;
//	                           params are then names within an event. "" is the body itself: paths after it count only if the
//	                           body has no sender, or for a report neither an ID or a reference nor a status
//	layouts, zone              as in sms.list
//	reply.type, reply.body     the body of the response to a call that was handled; empty by default
//	statuses                   by status, words and integers, as strings, in any case; none under two statuses; they also give
//	                           the Status of a listed message
//	placeholders               by concept, a text that the service replaces in a callback URL, or "" if it has none
//
// # Concepts
//
// The concepts are the keys that Default has in these objects. Default encodes as JSON:
// https://github.com/messaging-service/messaging-go/blob/main/docs/contract.json.
//
// # Names, paths and words
//
// A name has 1 to 256 bytes of valid UTF-8 without control characters. In a JSON body a dot nests, and a number is a position
// in a list: messages.0.to is the member to of the first element of the list messages. The body itself is an object. The positions of a
// list begin at 0 and have no gap; one whose field a message does not have is null if others follow. In a query or a form, dots and brackets are
// part of the name, and an object or a list is written as JSON. Within one request no two names may be equal, including
// constants, "with" and a key pair among the fields. In a JSON body no name may lie within another (sender and sender.id), and
// nothing can be both an object and a list (to.0 and to.kind). messaging.NewClient compares the names of each request. It
// refuses the contract if two collide, or if a position is missing.
//
// New default names never break an overlay: a default name that collides with a name or a constant of the overlay is dropped, and so is
// one whose object the overlay does not use. Setting the field is then a ValidationError, until the overlay names it. A default name also
// gives way to the same name in a user's Extra, if the message leaves the field empty. The names of from, to, text and channel never give
// way, and neither does the parameter of paging.by.
//
// A path is a list of members and positions with dots between them, such as messages.0.id; "" is the document itself. Of
// several paths, or of several names of a webhook's parameter, the first that is present and holds a value counts; of errors.code,
// the first code that is not in errors.success.
//
// A list in the response to a send has the parts of one message. Under messages.*.status all of them have to accept it, or all
// to refuse it; under messages.0.status all have to accept it. Anything else leaves the outcome unknown.
//
//	{
//		"sms.send": {"response": {"id": ["messages.0.id"], "status": ["messages.*.status"]}}
//	}
//
// A response in plain text is read at the path "", which the status, the code and the message of an error may have. It comes from the
// service if its text is a word of accepted, refused, errors.success or errors.classes. Otherwise it is a proxy's page. A service
// that responds "0: Accepted for delivery" is
//
//	{
//		"sms.send": {"response": {"id": [], "status": [""]}, "accepted": ["0: Accepted*"]},
//		"errors": {"code": [""], "classes": {"invalid": ["4*"]}}
//	}
//
// An amount of money may have its currency, "KES 0.8000" or "0.05 USD": both are read. Any other text is left out. A number
// may be a URI, tel:+639171234567, in a row and in a callback: it is read as the number.
//
// No two of ID, request, reference, from, to and text may have the same path in a response, a row or a callback. There is one exception: a
// service may use the reference of a message as its ID. The lists of id and reference are then the same in its response, and may be the
// same in its rows and its delivery reports. It has to repeat the reference: with another ID the outcome of a send is unknown. Its listing
// is filtered by one of the two, which is reference if SendOnce is to find a message.
//
//	{
//		"sms.send": {
//			"fields": {"reference": "messageId"}, "response": {"id": ["messageId"], "reference": ["messageId"]}
//		},
//		"sms.list": {
//			"params": {"id": "", "reference": "messageId"}, "record": {"id": ["messageId"], "reference": ["messageId"]}
//		},
//		"webhook.delivery": {"params": {"id": ["messageId"], "reference": ["messageId"]}}
//	}
//
// A word or a code that ends in * matches all with that prefix: REJECTED_*. The word itself wins over prefixes, and a longer prefix over a
// shorter one, also between two lists.
//
// A header has a name and a value of one line. Headers that the client writes itself, and those of credentials, are errors.
//
// Paging by page needs sms.list.params.page; by offset, sms.list.params.offset; by cursor, sms.list.params.cursor and
// sms.list.page.next. With none there is one page: if it has as many rows as it can hold, or as were asked for, the listing ends with an
// error, because rows may be missing. The parameters offset and cursor are "" by default, so an overlay that changes the paging names them.
// If the contract cannot express the next page, a listing that needs one ends with an error. A cursor from the last row ends the listing
// when a page has no rows or says that it is the last; a last row without it is an error.
//
// A contract sets paths, and no hosts, so it cannot redirect credentials.
package contract
