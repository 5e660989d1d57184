package messagingtest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func ExampleStart() {
	srv := messagingtest.Start()
	defer srv.Close()

	body := strings.NewReader(`{"from":"ACME","to":"+639171234567","text":"See you at 9","referenceId":"order-17"}`)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+"/sms/send", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+srv.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	fmt.Println(resp.Status)

	for _, m := range srv.Sent() {
		fmt.Printf("%s to %s: %q in %d part, reference %s\n", m.From, m.To, m.Text, m.Parts, m.ReferenceID)
	}
	// Output:
	// 200 OK
	// ACME to +639171234567: "See you at 9" in 1 part, reference order-17
}

func ExampleWithContract() {
	names, err := contract.Parse([]byte(`{
		"auth":     {"keyPair": {"in": "header", "key": "X-API-Key", "secret": ""}},
		"sms.send": {
			"path":      "/v2/messages",
			"fields":    {"from": "messages.0.sender", "to": "messages.0.to.0", "text": "messages.0.body", "reference": "messages.0.ref"},
			"response":  {"id": ["messages.0.id"], "status": ["messages.0.status"]},
			"accepted":  ["PENDING*"]
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv := messagingtest.Start(messagingtest.WithContract(names))
	defer srv.Close()

	client, err := messaging.NewClient(srv.URL, messaging.WithAPIKey(srv.APIKey, ""), messaging.WithContract(names))
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := client.SMS.Send(context.Background(), sms.Message{From: "ACME", To: "+639171234567", Text: "See you at 9"})
	if err != nil {
		fmt.Println(err)
		return
	}
	sent := srv.Sent()[0]
	fmt.Println(receipt.ID == sent.ID, sent.Text)
	fmt.Printf("%s\n", sent.Body)
	// Output:
	// true See you at 9
	// {"messages":[{"sender":"ACME","to":["+639171234567"],"body":"See you at 9"}]}
}

func ExampleServer_Seed() {
	srv := messagingtest.Start()
	defer srv.Close()

	noon := time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)
	srv.Seed(
		messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "See you at 9", ReferenceID: "order-17", At: noon},
		messagingtest.Sent{From: "ACME", To: "+639171234568", Text: "See you at 10", ReferenceID: "order-18", At: noon.Add(time.Minute)},
		messagingtest.Sent{From: "Other", To: "+639171234569", Text: "Hello", ReferenceID: "hello-1", At: noon.Add(time.Hour)},
	)

	query := url.Values{"filter[from]": {"ACME"}, "filter[dateCreatedLt]": {"2026-10-03T13:00:00.000Z"}, "pageSize": {"10"}}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL+"/api/sms?"+query.Encode(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+srv.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()

	var page struct {
		TotalRows int
		HasNext   bool
		Data      []struct{ ReferenceID, To, DateCreated string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d rows, more: %v\n", page.TotalRows, page.HasNext)
	for _, row := range page.Data {
		fmt.Println(row.DateCreated, row.ReferenceID, row.To)
	}
	// Output:
	// 2 rows, more: false
	// 2026-10-03T12:01:00.000Z order-18 +639171234568
	// 2026-10-03T12:00:00.000Z order-17 +639171234567
}

func ExampleServer_Inject() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	message := sms.Message{From: "ACME", To: "+639171234567", Text: "See you at 9", ReferenceID: "visit-9"}

	srv.Inject(messagingtest.FaultStatus(http.StatusInternalServerError, 0), 1)
	_, err = client.SMS.Send(context.Background(), message)
	fmt.Println(messaging.VerdictOf(err), len(srv.Sent()))

	srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	_, err = client.SMS.Send(context.Background(), message)
	fmt.Println(messaging.VerdictOf(err), len(srv.Sent()))
	// Output:
	// unknown 0
	// unknown 1
}

// A recipient who cannot be reached over chat app 2.
func ExampleFaultCode() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.Inject(messagingtest.FaultCode("131026"), 1)
	_, err = client.ChatApp2.Send(context.Background(), chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Hi"}})
	fmt.Println(messaging.VerdictOf(err), errors.Is(err, messaging.ErrUnreachable), len(srv.Sent()))
	// Output: refused true 0
}

// The platform of chat app 2 is not available, with the code and the status that it has then: the message may have been sent.
func ExampleFault_WithStatus() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.Inject(messagingtest.FaultCode("131016").WithStatus(http.StatusInternalServerError), 1)
	_, err = client.ChatApp2.Send(context.Background(), chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Hi"}})
	fmt.Println(messaging.VerdictOf(err))
	// Output: unknown
}

// One recipient of a campaign cannot be reached over chat app 2, and the others can.
func ExampleServer_SetFault() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.SetFault("chatapp2", "+639170000000", messagingtest.FaultCode("131026"))
	for _, to := range []string{"+639171234567", "+639170000000", "+639181234567"} {
		_, err = client.ChatApp2.Send(context.Background(), chatapp2.Message{To: to, Content: chatapp2.Text{Body: "Hi"}})
		fmt.Println(to, messaging.VerdictOf(err), errors.Is(err, messaging.ErrUnreachable))
	}
	// Output:
	// +639171234567 accepted false
	// +639170000000 refused true
	// +639181234567 accepted false
}

func ExampleServer_Seed_client() {
	srv := messagingtest.Start()
	defer srv.Close()
	srv.Seed(messagingtest.Sent{From: "ACME", To: "+639171234567", Text: "See you at 9", ReferenceID: "visit-9", DeliveryStatus: "1"})

	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	tx, err := client.SMS.Find(context.Background(), "visit-9")
	fmt.Println(tx.ID, tx.DeliveryStatus, err)
	// Output: msg-1 1 <nil>
}

// A program that lists can be tested with rows that are no ordinary ones.
func ExampleServer_Seed_rows() {
	srv := messagingtest.Start()
	defer srv.Close()
	srv.Seed(
		messagingtest.Sent{ReferenceID: "refused", SendStatus: "rejected"},
		messagingtest.Sent{ReferenceID: "unreadable", Row: map[string]json.RawMessage{"price": []byte(`"free"`)}},
	)

	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	for tx, err := range client.SMS.List(context.Background(), sms.ListOptions{SortBy: sms.ByCreated}) {
		fmt.Println(tx.ReferenceID, client.SMS.Verdict(tx), err)
	}
	// Output:
	// refused refused <nil>
	// unreadable accepted messaging: sms.list: row 2 of page 1 (ID msg-2) cannot be read: Price is not a decimal number (price)
}

func ExampleServer_Advance() {
	srv := messagingtest.Start()
	defer srv.Close()
	srv.SetDelivery("+639171234567", messagingtest.DeliveryUnreachable())

	body := strings.NewReader(`{"from":"channel-1","to":"+639171234567","text":"See you at 9","ttl":600,` +
		`"sms_from":"ACME","sms_text":"See you at nine","referenceId":"visit-9"}`)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, srv.URL+"/chatapp1/send", body)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+srv.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()

	show := func() {
		for _, m := range srv.Sent() {
			fmt.Printf("%s %q %s\n", m.Channel, m.Text, cmp.Or(string(m.Status), "in place of "+m.FallbackOf))
		}
	}
	srv.Advance(9 * time.Minute)
	show()
	srv.Advance(time.Minute)
	show()
	// Output:
	// chatapp1 "See you at 9" queued
	// chatapp1 "See you at 9" expired
	// sms "See you at nine" in place of msg-1
}
