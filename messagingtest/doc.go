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
// POST /sms/send, as the library's default contract has it. The path and the Authorization header are of the
// service's specification; the name of every field, the shape of every answer and every error code are defaults of
// the contract, and where the contract is silent too (which HTTP status goes with which code, prices, what exactly is
// refused) they are the stand-in's own choice. A client whose contract names other fields is refused here, although
// its account may well accept it. The stand-in shares no code with the library, so that a mistake in the library's
// encoding shows.
//
// It is stricter than a service needs to be, for the same reason: null, a key that comes twice, a number where a
// string belongs or a content type that is not JSON are refused.
//
// # Faults
//
// [Server.Inject] queues faults; each of the next requests takes one. Afterwards, for a message that was in order:
//
//	fault            in the ledger   verdict of a correct client
//	AcceptThenDrop   yes             unknown
//	DropUnread       no              unknown
//	Slow             yes             accepted; unknown if the client did not wait for the answer
//	Status           no              refused for 4xx but 408, and for 2xx, whose body holds an error code; else unknown
//	TruncatedAnswer  yes             unknown
//	NotJSON          yes             unknown
//
// No fault ends in "not sent": that verdict is for a request of which nothing was written, such as the first one to a
// closed server, which refuses connections.
package messagingtest
