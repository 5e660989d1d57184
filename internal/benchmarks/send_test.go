package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// Names of contenders, as the tables have them.
const (
	nameByHand         = "hand-written net/http"
	nameTemplateByHand = "hand-written net/http, a template"
	nameRetryable      = "go-retryablehttp"
	nameOurs           = "messaging-go"
	nameTemplate       = "messaging-go, a template of chat app 2"
)

const (
	smsPath, chatApp2Path = "/sms/send", "/chatapp2/send"

	token     = "token"
	bearer    = "Bearer " + token
	jsonType  = "application/json"
	recipient = "+639171234567"
	text      = "Your order 17 is ready"
	timeout   = 30 * time.Second // of a request, as this library's
	mostBytes = 1 << 20          // of a response that are read

	messageID = "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"

	acceptedResponse = `{"status":"ok","data":{"id":"` + messageID + `","requestId":"r-77","messageParts":"1","unitCost":"0.50",` +
		`"transactionCost":"0.50","remaining":"199.50","operatorCode":"OP_1"}}`
)

func accepted(path string) route { return route{path, acceptedResponse} }

var (
	errNoID    = errors.New("the response was read without its ID")
	errMessage = errors.New("the message cannot be sent")
	errNotSent = errors.New("nothing was written; the message can be sent again")
)

// call sends a message. It may send another one of its own instead.
type call func(ctx context.Context, m sms.Message) (messaging.Receipt, error)

func orderMessage() sms.Message {
	return sms.Message{From: "ACME", To: recipient, Text: text, ReferenceID: "order-17"}
}

// expecting makes an operation of calls, one after the other, each of which must return the ID.
func (c call) expecting(id string) operation {
	return func(ctx context.Context, n int) error {
		for range n {
			receipt, err := c(ctx, orderMessage())
			if err != nil {
				return err
			}
			if receipt.ID != id {
				return errNoID
			}
		}
		return nil
	}
}

// newClient makes a client of this library as a user does who sets nothing but a token. In memory it gets a transport.
func newClient(tb testing.TB, base string, transport http.RoundTripper) *messaging.Client {
	tb.Helper()
	options := []messaging.Option{messaging.WithToken(token)}
	if transport != nil {
		options = append(options, messaging.WithHTTPClient(&http.Client{Transport: transport}))
	}
	client, err := messaging.NewClient(base, options...)
	require.NoError(tb, err)
	return client
}

func sendTemplate(client *messaging.Client) call {
	return func(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
		return client.ChatApp2.Send(ctx, chatapp2.Message{To: m.To, ReferenceID: m.ReferenceID, Content: chatapp2.Template{
			Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "17")},
		}})
	}
}

type plainResponse struct {
	Status string `json:"status"`
	Data   struct {
		ID        string `json:"id"`
		RequestID string `json:"requestId"`
		Parts     int    `json:"messageParts,string"`
		UnitCost  string `json:"unitCost"`
		Cost      string `json:"transactionCost"`
		Balance   string `json:"remaining"`
		Operator  string `json:"operatorCode"`
	} `json:"data"`
}

// byHand is the send that a careful person writes with net/http alone. body returns what is written of a message. An error says
// whether the service may have got the message, by what net/http's hooks report, as each error of this library does.
func byHand(client *http.Client, url string, body func(sms.Message) (any, error)) call {
	return func(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
		content, err := body(m)
		if err != nil {
			return messaging.Receipt{}, err
		}
		payload, err := json.Marshal(content)
		if err != nil {
			return messaging.Receipt{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		var asked, written atomic.Bool
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn:      func(string) { asked.Store(true) },
			WroteHeaders: func() { written.Store(true) },
		})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
		if err != nil {
			return messaging.Receipt{}, err
		}
		setHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil && asked.Load() && !written.Load() {
			return messaging.Receipt{}, errors.Join(errNotSent, err)
		}
		if err != nil {
			return messaging.Receipt{}, err
		}
		return readReceipt(m, resp)
	}
}

func setHeader(header http.Header) {
	header.Set("Authorization", bearer)
	header.Set("Content-Type", jsonType)
	header.Set("Accept", jsonType)
	header.Set("User-Agent", "by-hand/1")
}

func readReceipt(m sms.Message, resp *http.Response) (messaging.Receipt, error) {
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return messaging.Receipt{}, errors.New(resp.Status)
	}
	var response plainResponse
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostBytes)).Decode(&response); err != nil {
		return messaging.Receipt{}, err
	}
	_, err := io.Copy(io.Discard, resp.Body) // to its end, so that the connection can be used again
	data := &response.Data
	return messaging.Receipt{
		ID: data.ID, RequestID: data.RequestID, ReferenceID: m.ReferenceID, Parts: data.Parts, UnitCost: data.UnitCost, Cost: data.Cost,
		Balance: data.Balance, Operator: data.Operator, Status: response.Status, Attempts: 1, StatusCode: resp.StatusCode,
	}, err
}

type plainSMS struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Text        string `json:"text"`
	ReferenceID string `json:"referenceId,omitempty"`
}

func plainBody(m sms.Message) (any, error) {
	if strings.TrimSpace(m.From) == "" || !isRecipient(m.To) || m.Text == "" || !isText(m.From, 512) || !isText(m.Text, 32768) || !isText(m.ReferenceID, 512) {
		return nil, errMessage
	}
	return plainSMS{m.From, m.To, m.Text, m.ReferenceID}, nil
}

func isRecipient(to string) bool {
	digits := strings.TrimPrefix(to, "+")
	return len(digits) >= 5 && len(digits) <= 15 && strings.Trim(digits, "0123456789") == ""
}

type (
	plainTemplateMessage struct {
		Product       string        `json:"messaging_product"`
		RecipientType string        `json:"recipient_type"`
		To            string        `json:"to"`
		Type          string        `json:"type"`
		Template      plainTemplate `json:"template"`
		ReferenceID   string        `json:"referenceId,omitempty"`
	}
	plainTemplate struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []plainComponent `json:"components"`
	}
	plainComponent struct {
		Type       string           `json:"type"`
		Parameters []plainParameter `json:"parameters"`
	}
	plainParameter struct {
		Type string `json:"type"`
		Name string `json:"parameter_name,omitempty"`
		Text string `json:"text"`
	}
)

func templateBody(m sms.Message) (any, error) {
	t := plainTemplateMessage{
		Product: "whatsapp", RecipientType: "individual", To: m.To, Type: "template", ReferenceID: m.ReferenceID,
		Template: plainTemplate{Name: "order_ready", Components: []plainComponent{{
			Type: "body", Parameters: []plainParameter{{Type: "text", Text: "Ana"}, {Type: "text", Text: "17"}},
		}}},
	}
	t.Template.Language.Code = "en_US"
	if !t.isValid() {
		return nil, errMessage
	}
	return t, nil
}

// isValid checks what this library checks of a template with a body.
func (m *plainTemplateMessage) isValid() bool {
	t := &m.Template
	ok := isRecipient(m.To) && isText(m.ReferenceID, 512) &&
		t.Name != "" && isText(t.Name, 512) && t.Language.Code != "" && isText(t.Language.Code, 512)
	parts := map[string]bool{}
	for _, component := range t.Components {
		names, characters := map[string]bool{}, 0
		for _, p := range component.Parameters {
			ok = ok && strings.TrimSpace(p.Text) != "" && isText(p.Text, 32768) && isText(p.Name, 512) && (p.Name == "" || !names[p.Name])
			characters += utf8.RuneCountInString(p.Text)
			if p.Name != "" {
				names[p.Name] = true
			}
		}
		ok = ok && !parts[component.Type] && characters <= 32768 && (len(names) == 0 || len(names) == len(component.Parameters))
		parts[component.Type] = true
	}
	return ok
}

func isText(s string, most int) bool { return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most }

// retryable is the send by hand over go-retryablehttp.
func retryable(client *retryablehttp.Client, url string) call {
	client.Logger = nil
	return func(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
		payload, err := json.Marshal(plainSMS{m.From, m.To, m.Text, m.ReferenceID})
		if err != nil {
			return messaging.Receipt{}, err
		}
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, url, payload)
		if err != nil {
			return messaging.Receipt{}, err
		}
		setHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil {
			return messaging.Receipt{}, err
		}
		return readReceipt(m, resp)
	}
}

func sendInMemory() work {
	over := inMemory(acceptedResponse)
	hand := func(path string, body func(sms.Message) (any, error)) preparation {
		return func(testing.TB) operation {
			return byHand(&http.Client{Transport: over}, unreachable+path, body).expecting(messageID)
		}
	}
	floor, template := hand(smsPath, plainBody), hand(chatApp2Path, templateBody)
	w := work{contenders: []way{
		{name: nameByHand, prepare: floor},
		{name: nameTemplateByHand, prepare: template},
		{name: nameOurs, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return call(newClient(tb, unreachable, over).SMS.Send).expecting(messageID)
		}},
		{name: nameTemplate, floor: template, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return sendTemplate(newClient(tb, unreachable, over)).expecting(messageID)
		}},
		{name: nameRetryable, floor: floor, prepare: func(testing.TB) operation {
			client := retryablehttp.NewClient()
			client.HTTPClient = &http.Client{Transport: over}
			return retryable(client, unreachable+smsPath).expecting(messageID)
		}},
	}}
	for _, p := range peers() {
		w.contenders = append(w.contenders, way{name: p.name, prepare: p.inMemory, floor: p.byHand})
	}
	return w
}

// pooled returns an http.Client over a transport like net/http's default, which keeps many idle connections to a host instead of two. It
// speaks HTTP/1.1.
func pooled() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 256, 256
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	return &http.Client{Transport: transport}
}

func sendOverLoopback() work {
	floor := func(testing.TB) operation {
		return byHand(pooled(), served().Plain+smsPath, plainBody).expecting(messageID)
	}
	w := work{contenders: []way{
		{name: nameByHand, prepare: floor},
		{name: nameOurs, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return call(newClient(tb, served().Plain, nil).SMS.Send).expecting(messageID)
		}},
		{name: nameRetryable, floor: floor, prepare: func(testing.TB) operation {
			return retryable(retryablehttp.NewClient(), served().Plain+smsPath).expecting(messageID)
		}},
	}}
	for _, p := range peers() {
		w.contenders = append(w.contenders, way{name: p.name, floor: floor, prepare: func(tb testing.TB) operation {
			tb.Helper()
			return p.connect(tb, served().Plain, nil).expecting(p.id)
		}})
	}
	return w
}
