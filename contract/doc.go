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
// An overlay holds keys of the complete table, which is what Default marshals to, and no others. Objects are merged key by key. A list replaces
// the default's list. Under "constants" and "headers" an entry is added or replaced. Under "with" the entry of a field is replaced, so that
// {"callback": {}} drops what goes with a callback by default.
//
// Keys are case-sensitive. A key that ends in // is a comment, with a value of any kind. An unknown or repeated key, null (except within a
// constant), a value of the wrong kind, and text after the object are errors, and so is what could never work, such as a word that both
// accepts and refuses. An overlay may have at most 64 KiB and 16 levels, a list 256 entries, and an operation 32 headers and 256
// constants, including those under "with".
//
// Many objects have concepts as their keys, such as from and text. The default table has all concepts:
// https://github.com/messaging-service/messaging-go/blob/main/docs/contract.json.
//
// # Keys of all operations
//
//   - auth.token.header is the header that holds the token. auth.token.scheme is the word before the token, or "".
//   - auth.keyPair.in says where the key pair is: body, query, header or basic. A request without a body cannot carry it in the body.
//   - auth.keyPair.key and auth.keyPair.secret name the key and the secret there; basic uses neither. An empty secret means that the
//     service has an API key alone.
//   - headers holds the value of each header that every operation sends.
//   - errors.code, errors.message and errors.request list paths in a response.
//   - errors.success lists codes, in any case, that a response may hold although the message was accepted.
//   - errors.classes lists the codes of each class of errors.
//   - errors.notProcessed lists HTTP statuses, 300 to 599, that prove that a send was not processed, so that it is retried. They count if the
//     response is JSON, is empty or has Retry-After; from 500 on, if it has a code or a request ID. A status that is here by mistake makes
//     messages go out twice.
//
// # Keys of each operation
//
//   - path begins with a single / and has no query, fragment, space, . or .. segment. {account} is a variable, in lower-case letters, digits and
//     _, which the client gets by messaging.WithVariable. A path never names a host, so a contract cannot redirect credentials.
//   - headers adds to the headers of all operations, or replaces them; "" leaves a header out.
//   - encoding is json, form or query.
//   - constants holds what goes with every request, by name. In JSON a constant is any value but null, otherwise a string, number or boolean.
//   - time is the form in which requests write times, such as the filters of sms.list: rfc3339ms, rfc3339, rfc1123, rfc2822, unix, unixms, datetime
//     or date. In JSON, unix and unixms are numbers. Times that arrive may have any of these forms.
//   - zone is the zone of times that name none: a name of the tz database, or "" for UTC. In the hour that a zone repeats in autumn, the
//     first is meant.
//   - scale is the power of ten, -18 to 18, by which amounts of money are multiplied: -4 reads 12345 as 1.2345. Callbacks have no scale: the cost in
//     a delivery report is not multiplied.
//
// # Keys of sends, such as sms.send
//
//   - fields holds the name of each concept, or "" if the service has no such field: using it is then an error.
//   - with holds constants by concept of fields. They go with a request that sends the field. In sms.send, those of gsm and unicode go with
//     a text that takes this encoding.
//   - wrap is the name under which a chat-app-2 message goes, or "" for the top level, next to fields.
//   - ttl is the unit of a lifetime: s, ms or m. A lifetime is a whole number of it. Any other duration is in whole seconds.
//   - response lists paths by concept. Without a path of id, the status alone decides whether the message was accepted.
//   - accepted lists words, in any case, that the status of an accepted message may be; refused lists those of a refused message. With any other
//     status the outcome of a send is unknown.
//
// # Keys of sms.list
//
//   - method is GET, which needs the encoding query, or POST.
//   - params holds the name of each concept, or "" if the service has no such parameter: using it is then an error.
//   - sorts holds, by concept, the column in the parameter sortBy, or "" if the service cannot sort by it.
//   - orders holds two different values for the parameter order.
//   - paging and page say how pages follow each other (see Paging). page lists paths in a response by concept.
//   - items lists the paths of the list of rows, at least one.
//   - only lists words by path in a row. A row with another word there is not of this listing, such as a received message. A row without the
//     member is.
//   - record lists paths in a row by concept.
//   - layouts lists further forms of the times in rows, as in package time. A layout without an offset is in zone. Filters are not written in it.
//
// # Keys of callbacks, such as webhook.sms
//
//   - encoding says how the service calls: by GET for query, and by POST for form and json, which the receiver then takes. The test server and
//     the sandbox call in the same way.
//   - params lists names by concept, which may be paths in a JSON body. json lists parameters that may hold a message in the platform's shape.
//   - events lists paths at which a JSON body holds one event or a list of them. The first that holds any counts, and params are names within an
//     event. "" is the body itself, and so is an empty list. Paths after "" count only if the body is not an event: an event has a sender, and a
//     delivery report has a status with an ID or a reference.
//   - layouts and zone work as in sms.list.
//   - reply.type and reply.body make up the response to a call that was handled. The body is empty by default.
//   - statuses lists words and integers, as strings and in any case, by status. They also give the Status of a listed message.
//   - placeholders holds, by concept, a text that the service replaces in a callback URL, or "" if it has none.
//
// # Names
//
// A name has 1 to 256 bytes of valid UTF-8 without control characters. In a JSON body, which is an object, a dot nests, and a number is a
// position in a list: messages.0.to is the member to of the first element of the list messages. Positions begin at 0 and have no gap. If a
// message does not have the field of a position, and others follow, null is sent there. In a query or a form, dots and brackets are part of the
// name, and an object or a list is written as JSON.
//
// No two names of a request may be equal, including constants, "with" and a key pair among the fields. In a JSON body no name may lie within
// another (sender and sender.id), and nothing can be both an object and a list (to.0 and to.kind). messaging.NewClient refuses a contract
// whose names collide, or that leaves out a position.
//
// New default names never break an overlay: a default name that collides with a name or a constant of the overlay is dropped, and so is
// one whose object the overlay does not use. Setting the field is then a ValidationError, until the overlay names it. A default name also
// gives way to the same name in a user's Extra, if the message leaves the field empty. The names of from, to, text and channel never give
// way, and neither does the parameter of paging.by.
//
// A header has a name and a value of one line. Headers that the client or net/http writes itself are errors, and so are credentials under headers.
//
// # Paths and IDs
//
// A path is a list of members and positions with dots between them, such as messages.0.id; "" is the document itself. Of
// several paths, or of several names of a webhook's parameter, the first that is present and holds a value counts; of errors.code,
// the first code that is not in errors.success. If there is no such value, the list of its paths is []. Only items needs a path.
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
// # Lists in responses
//
// A list in the response to a send has the parts of one message. In paths of id and status, a * is every element. Under messages.*.status
// all of them have to accept the message, or all to refuse it; under messages.0.status all have to accept it. Anything else leaves the outcome
// unknown.
//
//	{
//		"sms.send": {"response": {"id": ["messages.0.id"], "status": ["messages.*.status"]}}
//	}
//
// # Text responses
//
// A response in plain text is read at the path "", which the status, the code and the message of an error may have. It comes from the
// service if its text is a word of accepted, refused, errors.success or errors.classes. Otherwise it is a proxy's page. This is the contract of
// a service that responds "0: Accepted for delivery":
//
//	{
//		"sms.send": {"response": {"id": [], "status": [""]}, "accepted": ["0: Accepted*"]},
//		"errors": {"code": [""], "classes": {"invalid": ["4*"]}}
//	}
//
// # Words, money and numbers
//
// A word or a code that ends in * matches all that have this prefix: REJECTED_*. A * alone is an error, except under statuses. The word itself wins
// over prefixes, and a longer prefix over a shorter one, also between two lists.
//
// An amount of money may have its currency, "KES 0.8000" or "0.05 USD": both are read. Any other text is left out. A number
// may be a URI, tel:+639171234567, in a row and in a callback: it is read as the number.
//
// # Paging
//
// paging.by is page, offset, cursor or none. Each but none needs the parameter of its name, and cursor also needs page.next. The parameters
// offset and cursor are "" by default, so an overlay that changes the paging names them. The parameter of another paging is not sent, so
// page need not be emptied. If the contract cannot express the next page, a
// listing that needs one ends with an error.
//
// With page, paging.first is the number of the first page, 0 or more.
//
// With cursor, the path $last.id in page.next is the member id of the last row. The listing then ends when a page has no rows or says that it is
// the last. A last row without the member is an error.
//
// With none, there is one page. Set paging.most to the number of rows that it can hold, or paging.whole to true if it holds all. If the
// page has as many rows as it can hold, or as were asked for, the listing ends with an error, because rows may be missing.
package contract
