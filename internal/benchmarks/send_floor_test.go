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
	"unicode/utf8"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// This file sends by hand, with the checks and the evidence that this library has.

// A plainResponse is the response of the service as a program would declare it.
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

// byHand returns a call as a careful person writes it with net/http alone. body checks a message and returns its JSON. As with this library,
// an error says whether the service may have the message: net/http's hooks report whether the request was written.
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
		var connected, written atomic.Bool
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn:      func(string) { connected.Store(true) },
			WroteHeaders: func() { written.Store(true) },
		})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(payload))
		if err != nil {
			return messaging.Receipt{}, err
		}
		setHeader(req.Header)
		resp, err := client.Do(req)
		wasNotSent := connected.Load() && !written.Load()
		if err != nil && wasNotSent {
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
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxResponse)).Decode(&response); err != nil {
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

// plainBody returns the JSON of an SMS, after the checks of this library.
func plainBody(m sms.Message) (any, error) {
	isComplete := strings.TrimSpace(m.From) != "" && isRecipient(m.To) && m.Text != ""
	if !isComplete || !isText(m.From, 512) || !isText(m.Text, 32768) || !isText(m.ReferenceID, 512) {
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

// templateBody returns the JSON of a template, after the checks of this library.
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

// isValid makes the checks that this library makes of a template with a body.
func (m *plainTemplateMessage) isValid() bool {
	t := &m.Template
	isComplete := isRecipient(m.To) && t.Name != "" && t.Language.Code != ""
	if !isComplete || !isText(m.ReferenceID, 512) || !isText(t.Name, 512) || !isText(t.Language.Code, 512) {
		return false
	}
	parts := map[string]bool{}
	for i := range t.Components {
		component := &t.Components[i]
		if parts[component.Type] || !component.isValid() {
			return false
		}
		parts[component.Type] = true
	}
	return true
}

// isValid checks the parameters. All of them have names, or none has.
func (c *plainComponent) isValid() bool {
	names := map[string]bool{}
	characters := 0
	for _, p := range c.Parameters {
		isRepeated := p.Name != "" && names[p.Name]
		if isRepeated || strings.TrimSpace(p.Text) == "" || !isText(p.Text, 32768) || !isText(p.Name, 512) {
			return false
		}
		characters += utf8.RuneCountInString(p.Text)
		if p.Name != "" {
			names[p.Name] = true
		}
	}
	areNamed := len(names) == 0 || len(names) == len(c.Parameters)
	return areNamed && characters <= 32768
}

// isText reports whether a text is valid UTF-8 and not too long.
func isText(s string, limit int) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= limit
}
