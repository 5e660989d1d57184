package messagingtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/messaging-service/messaging-go/messagingtest"
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
