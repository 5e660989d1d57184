// Package messagingtest provides a messaging service to test against: a real HTTP server on a loopback port, for programs that
// send messages, without an account and without cost. It is like net/http/httptest, for this service.
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
// The server uses the default contract, or that of an account:
//
//	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
//
// A variable of its paths, such as {account}, matches any value. An operation that the contract does not describe keeps its default
// path and names. The server therefore serves all operations, even those that your service does not have or that the examples of a
// learned contract did not show.
//
// It shares no encoding code with the client, so that a mistake in either shows. What the service's specification and the
// contract leave open, such as prices, HTTP statuses and delivery, is a choice of this package. It is stricter than a service
// needs to be: it refuses null, a key that comes twice, a number in place of a string, and unknown or empty parameters of a list
// request.
//
// # Sending
//
// All channels have the same credentials, duplicates, faults and prices. A message costs 0.50 for each part, in XTS. Fields that
// the contract does not know are kept in [Sent.Extra].
//
// A chat-app-1 message has exactly one payload: text; image; video, with thumbnail, duration and size; text with caption and
// URL, and perhaps an image; or a template. A chat-app-2 message is an object of the third-party platform. The server checks that
// it has the content that its type names, and the essential members of text, media and templates. A fallback for a user ID is
// refused, because there is no number to send an SMS to.
//
// [Server.SetWindow] refuses free-form messages to recipients who have not written lately, as the platform does.
//
// # Lifetime and delivery
//
// The server has a clock, and lifetimes pass only when [Server.Advance] moves it. [Server.SetDelivery] sets what becomes of the
// messages to a recipient, and [Delivery.After] delays it. When the fallback of a message applies, an SMS with [Sent.FallbackOf]
// enters the ledger:
//
//	delivery              status                                        fallback
//	the zero Delivery     delivered                                     none
//	DeliveryRead          read                                          none
//	DeliveryAfter(d)      sent; delivered after d, if within its life   none if delivered, or when it expires
//	DeliveryUnreachable   queued; expired at the end of its life        when it expires
//	DeliveryFailed        failed                                        chat app 1: when its life ends; chat app 2: at once
//	DeliveryLate(d)       sent; expired; delivered d later              when it expires
//
// # Listing
//
// A listing shows SMS, including the SMS of fallbacks. The newest are first, unless the request says otherwise; a page has 100
// rows, at most 1000. Rows can be sorted by any member. Filters on dates compare with the listed date, in milliseconds.
// [Server.SetLag] shows a message only after a while, and [Server.IgnoreFilter] shows rows that were not asked for. To list a message
// that the service refused, or a row that a client cannot read, call [Server.Seed] with a [Sent] that has a SendStatus or a Row.
//
// # Faults
//
// [Server.Inject] applies a fault to each of the next n requests, [Server.InjectFor] to all requests for a while,
// [Server.InjectRandomly] to a share of them, and [Server.SetFault] to all messages to one recipient on a channel. For a valid message:
//
//	fault                 in the ledger   verdict of a correct client
//	FaultAcceptThenDrop   yes             unknown
//	FaultDropUnread       no              unknown
//	FaultSlow             yes             accepted; unknown if the client did not wait
//	FaultStatus           no              refused for 2xx except 204 and 206, and for 4xx except 408 and 499; otherwise unknown
//	FaultStatusAfter      yes             as for FaultStatus without a body, as for FaultPage with a page, and otherwise what the body says
//	FaultCode             no              refused; unknown for the statuses 408, 499 and 5xx, which Fault.WithStatus sets
//	FaultPage             no              refused for 407, 411, 413, 414, 417, 421 and 431; otherwise unknown
//	FaultTruncated        yes             unknown
//	FaultNotJSON          yes             unknown
//
// A request that lists can have a fault too; a correct client retries it, unless a status says that this is useless.
//
// [Server.RefuseConnections] is a service that is not running: a correct client's verdict is not sent. [Server.SetBalance] makes
// the server refuse messages for lack of credit.
//
// # Webhooks
//
// [Server.CallWebhook] and [Server.ReportDelivery] call a customer's webhook as the service does:
//
//	srv.CallWebhook(ctx, webhook.URL+"/hooks/sms?key="+secret, messagingtest.InboundSMS{From: "639171234567", Text: "Hi"})
//	srv.ReportDelivery(ctx, receipt.ID, "delivered") // to the callback URL that came with the message
//
// [Sent.Reply], [Sent.Tap], [Sent.ReplyMedia] and [Sent.React] return the reply of a recipient:
//
//	sent, err := srv.WaitFor(ctx, "+639171234567")
//	srv.CallWebhook(ctx, webhook.URL+"/hooks/chatapp2?key="+secret, sent.Tap("Yes"))
//
// [NewRequest] makes such a request for the unit test of a handler, [InboundSamples] has a chat-app message of every kind, and
// [TestStore] checks a store for duplicates. A correct receiver responds with 200 and no body when it has handled a callback,
// with 4xx to a callback that can never be handled, and with 5xx if it wants to be called again.
package messagingtest

// For maintainers. A request passes through these files, in this order:
//
//	server.go, fault.go     the operation that serves the path, and the fault
//	request.go              the fields of the request, by concept
//	send.go, chatapp2.go    a message, checked (check.go), and its response
//	list.go                 a listing, of the columns in sent.go
//	problem.go              why the request is refused
//	ledger.go, delivery.go  the messages, and what becomes of them
