// Package messagingtest is a stand-in for the messaging service: a real HTTP server on a loopback port, to test
// programs that send messages without an account, without a network and without cost. It is to the service what
// net/http/httptest is to a web server.
//
//	func TestReminder(t *testing.T) {
//		srv := messagingtest.NewServer(t) // closed when the test ends
//
//		client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
//		if err != nil {
//			t.Fatal(err)
//		}
//		srv.Inject(messagingtest.AcceptThenDrop(), 1) // the next request is processed, and never answered
//
//		_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "See you at 9"})
//		if messaging.VerdictOf(err) != messaging.Unknown {
//			t.Errorf("the verdict is %v", messaging.VerdictOf(err))
//		}
//		if sent := srv.Sent(); len(sent) != 1 {
//			t.Errorf("sent %d messages, want 1", len(sent))
//		}
//	}
//
// A program that is no test calls [Start] and [Server.Close].
//
// # What it speaks
//
// POST /sms/send, GET /api/sms, POST /chatapp1/send and POST /chatapp2/send, as the library's default contract has them.
// The paths, the field ttl and the Authorization header are of the service's specification; the name of every other field
// and parameter, the shape of every answer and every error code are defaults of the contract, and where the contract is
// silent too (which HTTP status goes with which code, prices, what exactly is refused) they are the stand-in's own choice.
// A client whose contract names other fields is refused here, although its account may well accept it. The stand-in
// shares no code with the library, so that a mistake in the library's encoding shows.
//
// It is stricter than a service needs to be, for the same reason: null, a key that comes twice, a number where a
// string belongs or a content type that is not JSON are refused; and so is a parameter of a list request that is
// unknown, empty or comes twice.
//
// # Chat apps
//
// The sends of both chat apps take the same credentials as those of SMS, which is a default of the contract. They are
// paid, refused as duplicates, counted and hit by faults as those; a message costs 0.50, whatever becomes of it.
//
// A chat-app-1 message has exactly one payload, which its fields decide on; the last column is [Sent.Kind]:
//
//	needs                   may have                          and is
//	text                    -                                 text
//	image                   -                                 image
//	video                   thumbnail, duration, fileSize     video
//	text, caption, action   image                             call_to_action
//	templateId              templateParams, templateLanguage  template
//
// Whatever does not belong to the payload but to another is refused. A field that the contract does not know passes, and
// is in [Sent.Extra]; it makes no payload. image, video, thumbnail and action are absolute http or https URLs.
//
// A chat-app-2 message is Meta's object at the top level of the body: messaging_product, recipient_type, to or
// recipient, type, and the property that type names; text is the type where there is none. Its structure is checked as
// far as needed to refuse what is plainly wrong (text.body, one of id and link, a template's name and language.code,
// interactive.type and action, and the like), and no limit on lengths and numbers is. A type that is not known passes with
// an object or an array of its name: Meta adds types. The answer is Meta's too: the message ID is messages[0].id.
//
// Both have the fields of the service beside these: ttl, a whole number of seconds above zero; sms_from and sms_text, both
// or neither; dlrCallback with dlrReport; referenceId. A fallback for a group or a user ID is refused: there is no number
// to send an SMS to. Nothing is reported to a callback URL by itself: see [Server.ReportDelivery].
//
// All are in [Server.Sent], with [Sent.Channel]; GET /api/sms lists SMS only, those of fallbacks among them.
//
// # Lifetime and delivery
//
// The server has a clock, and lifetimes pass only when [Server.Advance] moves it, so that a test of a ttl of a day takes no
// time and does not depend on how fast the machine is. A message without ttl lives for [DefaultTTL].
//
// [Server.SetDelivery] says what becomes of the messages to a recipient; a delivery is seen in [Sent.State]. Where a
// message has a fallback, an SMS with [Sent.FallbackOf] enters the ledger when it applies, once. By the specification that
// is on chat app 1 when the recipient is not reached within the ttl, and on chat app 2 also when the delivery fails:
//
//	outcome            state                                         fallback
//	Deliver            delivered                                     none
//	DeliverAfter(d)    sent; delivered after d, if within its life   none if delivered, else when it expires
//	Unreachable        queued; expired at the end of its life        when it expires
//	FailDelivery       failed                                        chat app 1: at the end of its life; chat app 2: at once
//	DeliverLate(d)     sent; expired; delivered d later              when it expires, and the message is delivered too
//
// An SMS of a fallback is paid like any other. If the balance is too small for it, it is not sent, then or later.
//
// # Routing
//
// By the specification a chat-app-2 message goes by its category: utility, authentication and service messages by the cloud
// platform, marketing messages by the marketing-messages interface, or by the cloud platform where that cannot be used.
// [Server.RegisterTemplate] says of which category a template is, [Server.SetMarketingRoute] whether the interface can be
// used, and [Sent.Route] which way a message has gone.
//
//	message                                     goes by              as
//	free-form                                   cloud                service
//	template, not registered                    cloud                utility
//	template of utility or authentication       cloud                registered
//	template registered for marketing           marketing_messages   marketing
//	the same, the route cannot be used          cloud                marketing
//	the same, and product_policy is STRICT      nothing: refused with 400
//
// # Listing
//
// GET /api/sms lists what is in the ledger: what was sent, and what [Server.Seed] has put there. Without sort[column],
// the newest are first unless sort[direction] is asc; a column is sorted in ascending order unless sort[direction] is
// desc. Any member of a record that the contract names is a column. Rows that are equal in it stand in the order of the
// ledger, or in the reverse of it for desc, so that the pages of a listing agree. A page holds 100 rows unless pageSize
// says otherwise, at most 1000. The filters on dates take RFC 3339 with any fraction and offset, and compare with
// dateCreated as it is listed, in whole milliseconds. The other filters take exact values. All of that is the
// stand-in's choice, as are the values that every row shows alike: sendStatus 1, operator "OP_1", country "ZZ",
// description "accepted".
//
// A listing goes, or goes wrong, as these say until they say otherwise; [Server.Reset] ends ShiftRows and RepeatPage.
//
//	control        what a listing does                     what a correct client does
//	SetPaging      divides its rows in another way         needs a contract that says so
//	SetLag         shows a message only after a while      looks it up again until its window ends
//	IgnoreFilter   shows rows that were not asked for      settles by no row of another reference
//	ShiftRows      gets rows in front, between two pages   hands out each row once
//	RepeatPage     answers with the page before            passes over one, ends with an error after two in a row
//
// [Server.RefuseDuplicates] is about sends, for tests of what a client does with the answer to a second one.
//
// # Faults
//
// Requests take faults as these say; [Server.Reset] ends both.
//
//	control          what takes a fault                       which one
//	Inject           each of the next n requests              the one that has waited longest
//	InjectRandomly   a share of the requests that find none   one of several, drawn by a seed
//
// Afterwards, for a message that was in order:
//
//	fault            in the ledger   verdict of a correct client
//	AcceptThenDrop   yes             unknown
//	DropUnread       no              unknown
//	Slow             yes             accepted; unknown if the client did not wait for the answer
//	Status           no              refused for 4xx but 408, and for 2xx, whose body holds an error code; else unknown
//	TruncatedAnswer  yes             unknown
//	NotJSON          yes             unknown
//
// So the books of a correct client that has sent many messages agree with [Server.Sent], whatever faults they met: one that
// is accepted is there once, one that is refused or not sent is not there, and one that is unknown is there once or not at
// all.
//
// The ledger does not change with a request that lists. Where a fault leaves a correct client without a listing, it asks
// again, unless the fault is a Status that calls for none: see [Fault].
//
// No fault ends in "not sent": that verdict is for a request of which nothing was written, such as the first one to a
// closed server, which refuses connections.
//
// # Webhooks
//
// The server also plays the service that calls a customer's webhook, by real requests over loopback:
//
//	srv.Receive(ctx, webhook.URL+"/hooks/sms?key="+secret, messagingtest.InboundSMS{From: "639171234567", Text: "Hi"})
//	srv.ReportDelivery(ctx, receipt.ID, "delivered") // to the callback URL that came with the message
//
// and [SMSRequest] with its siblings makes such a request for the unit test of a handler. [InboundSamples] has a chat-app
// message of every kind that is known. That the service calls by GET is of the specification; the names of the parameters
// are the first that the default contract has, and go in this order, each if it is not the zero value:
//
//	parameter        field         of InboundSMS, InboundChatApp
//	id               ID            both
//	from             From          both
//	to               To            both
//	name             Name          InboundChatApp
//	type             Kind          InboundChatApp
//	message          Text          both
//	mediaUrl         MediaURL      InboundChatApp
//	mediaId          MediaID       InboundChatApp
//	mimeType         MIMEType      InboundChatApp
//	caption          Caption       InboundChatApp
//	fileName         FileName      InboundChatApp
//	latitude         Latitude      InboundChatApp
//	longitude        Longitude     InboundChatApp
//	timestamp        ReceivedAt    both
//	referenceId      ReferenceID   both
//	operator         Operator      InboundSMS
//	keyword          Keyword       InboundSMS
//	payload          JSON          InboundChatApp
//
//	parameter        field         of DeliveryReport
//	status           Status
//	id               ID
//	referenceId      ReferenceID
//	timestamp        At
//	transactionType  Kind
//	from             From
//	to               To
//
// What Extra holds goes last, under its own names. A time is RFC 3339 in UTC, which of the forms of the contract is the
// stand-in's choice. Whatever the contract reads beside these names and forms can be sent by Extra.
//
// The calls go, or go wrong, as the options say:
//
//	option             how the webhook is called                        what a correct receiver does
//	TwiceAtOnce        each callback comes twice in the same instant    handles it once; 200, or 503 while it is at it
//	OutOfOrder         the last callback comes first                    assumes no order
//	Unescaped          + % ; and bytes beyond ASCII stand as they are   gets each value whole, with the + of a number
//	AgainAfterFailure  again after no answer, 429 or 5xx                handles it when it can
//	SeveralAtOnce      n callbacks at a time                            handles each once
//	AnswerWithin       the service gives up after a while               knows the callback when it comes again
//
// [Reply] is what came of each request. A correct receiver answers with 200 and no body when it has handled a callback, with
// 4xx to what can never be handled, and with 5xx if it wants to be called again.
package messagingtest
