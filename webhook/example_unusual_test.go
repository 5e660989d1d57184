package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// flatten rewrites callbacks that hold a list of reports for each request, {"data": [{"requestId": "a", "report": [{"status": "1"}]}]}, into
// a list of reports. A signature of the body must be verified before.
func flatten(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Data []struct {
				RequestID string           `json:"requestId"`
				Report    []map[string]any `json:"report"`
			} `json:"data"`
		}
		const longest = 1 << 20
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, longest))
		decoder.UseNumber()
		if err := decoder.Decode(&call); err != nil {
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		reports := []map[string]any{}
		for _, entry := range call.Data {
			for _, report := range entry.Report {
				report["id"] = entry.RequestID
				reports = append(reports, report)
			}
		}
		body, _ := json.Marshal(reports) // it came from JSON
		r = r.Clone(r.Context())
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// Callbacks in a form that no contract describes are rewritten in front of the handler.
func ExampleReceiver_Delivery_rewritten() {
	names, err := contract.Parse([]byte(`{"webhook.delivery": {
		"events": [""],
		"params": {"id": ["id"], "to": ["number"]},
		"statuses": {"delivered": ["1"], "failed": ["2"]}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	hooks, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST(), webhook.WithSecret("key", "QZ5JEWNTJ4W5SXPJ"))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler := flatten(hooks.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		fmt.Println(d.ID, d.To, d.Status)
		return nil
	}))

	const body = `{"data": [{"requestId": "a", "report": [{"number": "1111", "status": 1}, {"number": "2222", "status": "2"}]}]}`
	r := httptest.NewRequest(http.MethodPost, "/hooks/delivery?key=QZ5JEWNTJ4W5SXPJ", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	fmt.Println(w.Code)
	// Output:
	// a 1111 delivered
	// a 2222 failed
	// 200
}
