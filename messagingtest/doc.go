// Package messagingtest provides a messaging service to test against: a real HTTP server on a loopback port, for programs that
// send messages, without an account and without cost. It is to the service what net/http/httptest is to a web server.
//
//	func TestReminder(t *testing.T) {
//		srv := messagingtest.NewServer(t) // closed when the test ends
//
//		client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
//		if err != nil {
//			t.Fatal(err)
//		}
//		srv.Inject(messagingtest.FaultAcceptThenDrop(), 1) // the next request is processed, but gets no response
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
// A program that is not a test calls [Start] and [Server.Close].
//
// The server speaks the default contract, or the one of an account:
//
//	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
//
// It shares no encoding code with the client, so that a mistake in either shows. What the service's specification and the
// contract leave open, such as prices, HTTP statuses and states, are choices of this package. It is stricter than a service
// needs to be: it refuses null, a key that comes twice, a number for a string, and unknown or empty parameters of a list request.
//
// With a contract that reads a text (at the path ""), it responds with one. Callbacks carry numbers as they are given, such as
// tel:+639171234567. An amount is a number beside its currency or, if the contract has no place for that, "XTS 0.50".
//
// [Replay] serves recorded responses, such as those of a real account, in place of a ledger.
//
// # Sending
//
// All channels take the same credentials, duplicates, faults and prices. A message costs 0.50 for each part, in XTS. A field that the
// contract does not know is kept in [Sent.Extra].
//
// A chat-app-1 message has exactly one payload: text; image; video, with thumbnail, duration and size; text with caption and
// URL, and perhaps an image; or a template. A chat-app-2 message is an object of the third-party platform, of which the server
// checks the structure, but no limits. An unknown type passes: the platform adds types. A fallback for a user ID is
// refused, because there is no number to send an SMS to.
//
// A chat-app-2 message goes by its category, which [Server.RegisterTemplate] sets for a template:
//
//	message                                     route                category
//	free-form                                   cloud                service
//	template, not registered                    cloud                utility
//	template of utility or authentication       cloud                registered
//	template registered for marketing           marketing_messages   marketing
//	the same, after SetMarketingRoute(false)    cloud                marketing
//	the same, and product_policy is STRICT      none: refused with 400
//
// [WithWindow] refuses free-form messages to recipients who have not written lately, as the platform does.
//
// # Lifetime and delivery
//
// The server has a clock, and lifetimes pass only when [Server.Advance] moves it. [Server.SetDelivery] sets what becomes of the
// messages to a recipient. When the fallback of a message applies, an SMS with [Sent.FallbackOf] enters the ledger:
//
//	outcome            state                                         fallback
//	Deliver            delivered                                     none
//	Read               read                                          none
//	DeliveryAfter(d)    sent; delivered after d, if within its life   none if delivered, or when it expires
//	Unreachable        queued; expired at the end of its life        when it expires
//	FailDelivery       failed                                        chat app 1: when its life ends; chat app 2: at once
//	DeliveryLate(d)     sent; expired; delivered d later              when it expires
//
// # Listing
//
// A listing shows SMS, including the SMS of fallbacks. The newest are first, unless the request says otherwise; a page has 100
// rows, at most 1000. Any member of a row can be sorted by. Filters on dates compare with the listed date, in milliseconds.
//
//	control        a listing then                             a correct client
//	WithContract   is divided as the contract says            has that contract
//	SetLag         shows a message only after a while         looks the message up until its window ends
//	IgnoreFilter   shows rows that were not asked for         settles by no row of another reference
//	ShiftRows      gets rows in front, between two pages      returns each row once
//	RepeatPage     repeats the page before                    passes over one, ends with an error after two in a row
//
// # Faults
//
// [Server.Inject] applies a fault to each of the next n requests, [Server.InjectFor] to all requests for a while, and
// [Server.InjectRandomly] to a share of them. For a valid message:
//
//	fault               in the ledger   verdict of a correct client
//	AcceptThenDrop      yes             unknown
//	DropUnread          no              unknown
//	Slow                yes             accepted; unknown if the client did not wait
//	Silence             no              unknown: it ends like Slow, and the client cannot tell
//	Status              no              refused for 4xx except 408, and for 2xx, whose body has an error code; otherwise unknown
//	StatusAfter         yes             unknown for 5xx, 408 and a page; a body of the service's own means what it says
//	Page                no              unknown, as it is a proxy's; refused for 407, 411, 413, 414, 417, 421 and 431, which come first
//	TruncatedResponse   yes             unknown
//	NotJSON             yes             unknown
//	AnotherResponse     yes             unknown: the reference ID is another; chat app 2 shows none: accepted
//	ProcessTwice        twice           accepted: a client cannot tell, a reference ID shows it in a listing
//
// A request that lists takes faults too; a correct client retries it, unless the fault is a Status that does not call for it.
//
// The server itself can be in trouble:
//
//	control             the server                             verdict of a correct client
//	RefuseConnections   is not running                         not sent, while connections are refused
//	SetCapacity         responds 429 with Retry-After beyond   accepted after a wait; refused if it does not wait so long
//	SetBalance("0")     refuses: there is no credit            refused
//
// # Webhooks
//
// [Server.Receive] and [Server.ReportDelivery] call a customer's webhook as the service does:
//
//	srv.Receive(ctx, webhook.URL+"/hooks/sms?key="+secret, messagingtest.InboundSMS{From: "639171234567", Text: "Hi"})
//	srv.ReportDelivery(ctx, receipt.ID, "delivered") // to the callback URL that came with the message
//
// A recipient answers a message of [Server.Sent] by [Sent.Reply], [Sent.Tap], [Sent.ReplyMedia] and [Sent.React]:
//
//	sent, err := srv.WaitFor(ctx, "+639171234567")
//	srv.Receive(ctx, webhook.URL+"/hooks/chatapp2?key="+secret, sent.Tap("Yes"))
//
// [SMSRequest] and its siblings make such a request for the unit test of a handler, [InboundSamples] has a chat-app message of
// every kind, and [TestStore] checks a store for duplicates. A correct receiver responds with 200 and no body when it has
// handled a callback, with 4xx to one that can never be handled, and with 5xx if it wants to be called again.
package messagingtest
