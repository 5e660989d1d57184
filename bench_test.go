package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

const accepted = `{"status":"ok","data":{"id":"0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111","requestId":"r-77","messageParts":"1","unitCost":"0.50","transactionCost":"0.50","remaining":"199.50","operatorCode":"OP_1"}}`

// inMemory is a service without a network, so that the benchmark measures the client's own work.
type inMemory struct{}

func (inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(accepted))), ContentLength: int64(len(accepted)), Request: r,
	}, nil
}

type plainRequest struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Text        string `json:"text"`
	ReferenceID string `json:"referenceId,omitempty"`
}

type plainResponse struct {
	Status string `json:"status"`
	Data   struct {
		ID           string `json:"id"`
		RequestID    string `json:"requestId"`
		MessageParts string `json:"messageParts"`
		UnitCost     string `json:"unitCost"`
		Cost         string `json:"transactionCost"`
		Remaining    string `json:"remaining"`
		Operator     string `json:"operatorCode"`
	} `json:"data"`
}

// byHand is the send that a careful person writes with net/http alone: the measure of everything else.
func byHand(b *testing.B, client *http.Client, url string) {
	b.Helper()
	payload, err := json.Marshal(plainRequest{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"})
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/sms/send", bytes.NewReader(payload))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "by-hand/1")
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var response plainResponse
	if err := json.NewDecoder(resp.Body).Decode(&response); err != nil || response.Data.ID == "" {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}

// benchmarked are the sends that are measured, each with all that its call needs made anew.
var benchmarked = []struct {
	name string
	send func(ctx context.Context, client *messaging.Client) (id string, err error)
}{
	{"messaging", func(ctx context.Context, client *messaging.Client) (string, error) {
		receipt, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "Your order 17 is ready", ReferenceID: "order-17"})
		return receipt.ID, err
	}},
	{"chatapp1-text", func(ctx context.Context, client *messaging.Client) (string, error) {
		m := chatapp1.New("channel-1", "+639171234567").Text("Your order 17 is ready").WithReference("order-17")
		receipt, err := client.ChatApp1.Send(ctx, m)
		return receipt.ID, err
	}},
	{"chatapp2-text", func(ctx context.Context, client *messaging.Client) (string, error) {
		m := chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Your order 17 is ready"}, ReferenceID: "order-17"}
		receipt, err := client.ChatApp2.Send(ctx, m)
		return receipt.ID, err
	}},
	{"chatapp2-template", func(ctx context.Context, client *messaging.Client) (string, error) {
		m := chatapp2.Message{To: "+639171234567", ReferenceID: "order-17", Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "17")},
		}}
		receipt, err := client.ChatApp2.Send(ctx, m)
		return receipt.ID, err
	}},
}

// BenchmarkSend compares one SMS with the same by hand and with chat-app messages, in memory and over loopback. Compare
// within one run:
//
//	go test -run '^$' -bench Send -benchmem -count 10 .
func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, accepted)
	}))
	defer server.Close()
	for _, where := range []struct {
		name      string
		transport http.RoundTripper
	}{{"memory", inMemory{}}, {"loopback", &http.Transport{MaxIdleConnsPerHost: 256}}} {
		httpClient := &http.Client{Transport: where.transport}
		client, err := messaging.NewClient(server.URL, messaging.WithToken("token"), messaging.WithHTTPClient(httpClient))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(where.name+"/by-hand", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				byHand(b, httpClient, server.URL)
			}
		})
		for _, one := range benchmarked {
			b.Run(where.name+"/"+one.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if id, err := one.send(b.Context(), client); err != nil || id == "" {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
