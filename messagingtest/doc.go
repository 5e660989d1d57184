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
// POST /sms/send and GET /api/sms, as the library's default contract has them. The paths and the Authorization header
// are of the service's specification; the name of every field and parameter, the shape of every answer and every error
// code are defaults of the contract, and where the contract is silent too (which HTTP status goes with which code,
// prices, what exactly is refused) they are the stand-in's own choice. A client whose contract names other fields is refused here, although
// its account may well accept it. The stand-in shares no code with the library, so that a mistake in the library's
// encoding shows.
//
// It is stricter than a service needs to be, for the same reason: null, a key that comes twice, a number where a
// string belongs or a content type that is not JSON are refused; and so is a parameter of a list request that is
// unknown, empty or comes twice.
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
// The ledger does not change with a request that lists. Where a fault leaves a correct client without a listing, it asks
// again, unless the fault is a Status that calls for none: see [Fault].
//
// No fault ends in "not sent": that verdict is for a request of which nothing was written, such as the first one to a
// closed server, which refuses connections.
package messagingtest
