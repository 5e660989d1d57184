package contract_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// heron is the overlay of an account that differs everywhere. The page docs/contract.md says how it comes about.
const heron = `{
	"auth": {"keyPair": {"in": "header", "key": "X-Api-Key", "secret": ""}},
	"headers": {"X-Api-Version": "3"},
	"sms.send": {
		"path": "/v3/accounts/AC42/messages",
		"fields": {
			"from": "messages.0.from",
			"to": "messages.0.destinations.0.to",
			"text": "messages.0.content.text",
			"callback": "messages.0.notifyUrl",
			"reference": "messages.0.destinations.0.messageId"
		},
		"constants": {"messages.0.content.type": "TEXT"},
		"with": {"callback": {"messages.0.notifyType": "application/json"}},
		"response": {
			"id": ["messages.0.messageId"],
			"status": ["messages.0.status.name"],
			"cost": ["messages.0.price.amount"],
			"currency": ["messages.0.price.currency"]
		},
		"scale": -4,
		"accepted": ["PENDING_*"],
		"refused": ["REJECTED_*"]
	},
	"sms.list": {
		"path": "/v3/accounts/AC42/messages/search",
		"method": "POST",
		"encoding": "json",
		"params": {
			"createdAfter": "",
			"createdBefore": "",
			"id": "",
			"request": "",
			"category": "",
			"from": "",
			"to": "",
			"page": "",
			"sortBy": "",
			"order": "",
			"reference": "filter.messageIds.0",
			"pageSize": "limit",
			"cursor": "after"
		},
		"paging": {"by": "cursor"},
		"items": ["results"],
		"page": {"next": ["$last.messageId"]},
		"record": {
			"id": ["messageId"],
			"reference": ["clientId"],
			"sent": ["sentAt"],
			"deliveryStatus": ["state"],
			"price": ["price.amount"],
			"currency": ["price.currency"]
		},
		"layouts": ["02/01/2006 15:04"],
		"zone": "Europe/Madrid",
		"scale": -4
	},
	"errors": {
		"code": ["fault.code"],
		"message": ["fault.text"],
		"request": ["trace"],
		"classes": {
			"invalid": ["E1*"],
			"insufficientBalance": ["E200"],
			"unauthorized": ["E3*"],
			"rateLimited": [],
			"duplicate": [],
			"notFound": [],
			"unavailable": []
		}
	},
	"webhook.sms": {
		"encoding": "json",
		"events": ["data"],
		"params": {"from": ["sender.phone"], "to": ["recipient"], "text": ["text"], "id": ["id"]}
	},
	"webhook.delivery": {
		"encoding": "json",
		"events": ["results"],
		"params": {"id": ["messageId"], "reference": ["clientId"], "status": ["status.name"], "time": ["doneAt"]},
		"statuses": {"delivered": ["DELIVERED_*"], "failed": ["UNDELIVERABLE_*"], "rejected": ["REJECTED_*"]},
		"layouts": ["02/01/2006 15:04"],
		"zone": "Europe/Madrid"
	}
}`

// An account that differs everywhere: nested lists, one API key, constant headers, prices in ten-thousandths, words that
// refuse, a listing by POST with a cursor from the last row, and callbacks with several events.
func ExampleParse_account() {
	names, err := contract.Parse([]byte(heron))
	if err != nil {
		fmt.Println(err)
		return
	}
	responses := []string{
		`{"messages":[{"messageId":"h-1","status":{"name":"PENDING_ENROUTE"},"price":{"amount":12345,"currency":"EUR"}}]}`,
		`{"messages":[{"messageId":"h-2","status":{"name":"REJECTED_ROUTE"}}]}`,
		`{"results":[{"messageId":"h-1","clientId":"order-17","sentAt":"22/11/2026 14:05","state":"DELIVERED_TO_HANDSET","price":{"amount":12345,"currency":"EUR"}}]}`,
		`{"results":[]}`,
	}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.URL, r.Header.Get("X-Api-Key"), r.Header.Get("X-Api-Version"))
		fmt.Println(string(body))
		_, _ = io.WriteString(w, responses[0])
		responses = responses[1:]
	}))
	defer service.Close()
	client, err := messaging.NewClient(service.URL, messaging.WithAPIKey("key", ""), messaging.WithContract(names))
	if err != nil {
		fmt.Println(err)
		return
	}

	message := sms.Message{From: "ACME", To: "639171234567", Text: "Hi", ReferenceID: "order-17"}
	receipt, err := client.SMS.Send(context.Background(), message)
	fmt.Println(messaging.VerdictOf(err), receipt.ID, receipt.Cost, receipt.Currency)
	_, err = client.SMS.Send(context.Background(), message)
	fmt.Println(messaging.VerdictOf(err))
	for tx, err := range client.SMS.List(context.Background(), sms.ListOptions{ReferenceID: "order-17", PageSize: 100}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tx.ID, tx.ReferenceID, tx.Status, tx.Price, tx.Currency, tx.SentAt.Format(time.RFC3339))
	}
	// Output:
	// POST /v3/accounts/AC42/messages key 3
	// {"messages":[{"from":"ACME","destinations":[{"to":"639171234567","messageId":"order-17"}],"content":{"text":"Hi","type":"TEXT"}}]}
	// accepted h-1 1.2345 EUR
	// POST /v3/accounts/AC42/messages key 3
	// {"messages":[{"from":"ACME","destinations":[{"to":"639171234567","messageId":"order-17"}],"content":{"text":"Hi","type":"TEXT"}}]}
	// refused
	// POST /v3/accounts/AC42/messages/search key 3
	// {"filter":{"messageIds":["order-17"]},"limit":100}
	// h-1 order-17 delivered 1.2345 EUR 2026-11-22T14:05:00+01:00
	// POST /v3/accounts/AC42/messages/search key 3
	// {"filter":{"messageIds":["order-17"]},"limit":100,"after":"h-1"}
}
