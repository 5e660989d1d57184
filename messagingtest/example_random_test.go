package messagingtest_test

import (
	"context"
	"fmt"
	"net/http"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func ExampleServer_InjectRandomly() {
	srv := messagingtest.Start()
	defer srv.Close()
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.InjectRandomly(17, 0.3, // three requests in ten
		messagingtest.FaultAcceptThenDrop(),
		messagingtest.FaultDropUnread(),
		messagingtest.FaultStatus(http.StatusTooManyRequests, -1),
		messagingtest.FaultStatus(http.StatusInternalServerError, 0),
	)
	held := map[string]messaging.Verdict{}
	for out := range client.SMS.SendAll(context.Background(), func(yield func(sms.Message) bool) {
		for i := range 100 {
			m := sms.Message{From: "ACME", To: "+639171234567", Text: "See you at 9", ReferenceID: fmt.Sprint("visit-", i)}
			if !yield(m) {
				return
			}
		}
	}, 8) {
		held[out.Message.ReferenceID] = messaging.VerdictOf(out.Err)
	}

	listed := map[string]int{}
	for _, m := range srv.Sent() {
		listed[m.ReferenceID]++
	}
	wrong := 0
	for reference, verdict := range held {
		switch n := listed[reference]; verdict {
		case messaging.Accepted:
			if n != 1 {
				wrong++
			}
		case messaging.Unknown:
			if n > 1 {
				wrong++
			}
		case messaging.Refused, messaging.NotSent:
			if n != 0 {
				wrong++
			}
		}
	}
	fmt.Println(len(held), "sent,", wrong, "wrong")
	// Output: 100 sent, 0 wrong
}
