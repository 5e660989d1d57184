package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

const (
	sendPath  = "/sms/send"
	token     = "token"
	bearer    = "Bearer " + token
	jsonType  = "application/json"
	userAgent = "by-hand/1"

	sender    = "ACME"
	recipient = "+639171234567"
	text      = "Your order 17 is ready"
	reference = "order-17"

	messageID = "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111"
)

var errNoID = errors.New("the response was read without its ID")

// call sends one message and returns the ID in the response.
type call func(ctx context.Context) (id string, err error)

// expecting makes an operation of calls, one after the other, each of which must give the ID.
func (c call) expecting(id string) operation {
	return func(ctx context.Context, n int) error {
		for range n {
			got, err := c(ctx)
			if err != nil {
				return err
			}
			if got != id {
				return errNoID
			}
		}
		return nil
	}
}

type plainRequest struct {
	From        string `json:"from"`
	To          string `json:"to"`
	Text        string `json:"text"`
	ReferenceID string `json:"referenceId,omitempty"`
}

type plainResponse struct {
	Status string    `json:"status"`
	Data   plainData `json:"data"`
}

type plainData struct {
	ID           string `json:"id"`
	RequestID    string `json:"requestId"`
	MessageParts string `json:"messageParts"`
	UnitCost     string `json:"unitCost"`
	Cost         string `json:"transactionCost"`
	Remaining    string `json:"remaining"`
	Operator     string `json:"operatorCode"`
}

func plainMessage() plainRequest {
	return plainRequest{From: sender, To: recipient, Text: text, ReferenceID: reference}
}

// fullHeader sets what this library sends too, so that all make the same request.
func fullHeader(header http.Header) {
	shortHeader(header)
	header.Set("Accept", jsonType)
	header.Set("User-Agent", userAgent)
}

// shortHeader sets what a service cannot do without.
func shortHeader(header http.Header) {
	header.Set("Authorization", bearer)
	header.Set("Content-Type", jsonType)
}

// byHand is the send that a careful person writes with net/http alone: the measure of everything else.
func byHand(client *http.Client, base string) call { return byHandWith(client, base, fullHeader) }

func byHandWith(client *http.Client, base string, setHeader func(http.Header)) call {
	return func(ctx context.Context) (string, error) {
		payload, err := json.Marshal(plainMessage())
		if err != nil {
			return "", err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+sendPath, bytes.NewReader(payload))
		if err != nil {
			return "", err
		}
		setHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		return decodeAnswer(resp)
	}
}

func decodeAnswer(resp *http.Response) (string, error) {
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(resp.Status)
	}
	var response plainResponse
	if err := json.NewDecoder(resp.Body).Decode(&response); err != nil {
		return "", err
	}
	_, err := io.Copy(io.Discard, resp.Body) // to its end, so that the connection can be used again
	return response.Data.ID, err
}

// withTimeout bounds each call, as this library does.
func withTimeout(c call) call {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		return c(ctx)
	}
}

// withTrace watches what is written, as this library does.
func withTrace(c call) call {
	return func(ctx context.Context) (string, error) {
		var connections, wrote atomic.Int32
		return c(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn:      func(string) { connections.Add(1) },
			WroteHeaders: func() { wrote.Add(1) },
		}))
	}
}

// retryable is the send by hand over go-retryablehttp.
func retryable(client *retryablehttp.Client, base string) call {
	return func(ctx context.Context) (string, error) {
		payload, err := json.Marshal(plainMessage())
		if err != nil {
			return "", err
		}
		req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodPost, base+sendPath, payload)
		if err != nil {
			return "", err
		}
		fullHeader(req.Header)
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		return decodeAnswer(resp)
	}
}

// newRetryable is a client with the defaults of go-retryablehttp, but for the line that it would log for each call.
func newRetryable() *retryablehttp.Client {
	client := retryablehttp.NewClient()
	client.Logger = nil
	return client
}

// tuned is the send by hand of somebody who has measured: what is the same for every call is made once.
type tuned struct {
	client  *http.Client
	url     *url.URL
	headers [3][]string
	buffers sync.Pool
	decode  func(body []byte, into *plainResponse) error
}

func newTuned(client *http.Client, base string, decode func([]byte, *plainResponse) error) (*tuned, error) {
	u, err := url.Parse(base + sendPath)
	if err != nil {
		return nil, err
	}
	return &tuned{
		client: client, url: u, headers: [3][]string{{bearer}, {jsonType}, {userAgent}}, decode: decode,
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}, nil
}

func (t *tuned) send(ctx context.Context) (string, error) {
	payload := plainMessage().append(make([]byte, 0, 192))
	req := (&http.Request{
		Method: http.MethodPost, URL: t.url, Host: t.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Authorization": t.headers[0], "Content-Type": t.headers[1], "Accept": t.headers[1], "User-Agent": t.headers[2]},
		Body:   io.NopCloser(bytes.NewReader(payload)), ContentLength: int64(len(payload)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(payload)), nil },
	}).WithContext(ctx)
	resp, err := t.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing can be done about it
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(resp.Status)
	}
	buffer, _ := t.buffers.Get().(*bytes.Buffer)
	defer t.buffers.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(resp.Body); err != nil {
		return "", err
	}
	var response plainResponse
	if err := t.decode(buffer.Bytes(), &response); err != nil {
		return "", err
	}
	return response.Data.ID, nil
}

// append writes the request as JSON.
func (r plainRequest) append(to []byte) []byte {
	to = appendText(append(to, `{"from":`...), r.From)
	to = appendText(append(to, `,"to":`...), r.To)
	to = appendText(append(to, `,"text":`...), r.Text)
	if r.ReferenceID != "" {
		to = appendText(append(to, `,"referenceId":`...), r.ReferenceID)
	}
	return append(to, '}')
}

// appendText writes a string as JSON: as it is where it may stand so, else as encoding/json does.
func appendText(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string can always be written
			return append(to, quoted...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}

func unmarshalAnswer(body []byte, into *plainResponse) error { return json.Unmarshal(body, into) }

// decodeAnswerByHand reads what a code generator could have written for the type. All strings share one copy of the body.
func decodeAnswerByHand(body []byte, into *plainResponse) error {
	s := scanner{doc: string(body)}
	s.object(func(name string) {
		switch name {
		case "status":
			into.Status = s.text()
		case "data":
			s.object(func(name string) {
				switch name {
				case "id":
					into.Data.ID = s.text()
				case "requestId":
					into.Data.RequestID = s.text()
				case "messageParts":
					into.Data.MessageParts = s.text()
				case "unitCost":
					into.Data.UnitCost = s.text()
				case "transactionCost":
					into.Data.Cost = s.text()
				case "remaining":
					into.Data.Remaining = s.text()
				case "operatorCode":
					into.Data.Operator = s.text()
				default:
					s.skip()
				}
			})
		default:
			s.skip()
		}
	})
	if s.unusual {
		*into = plainResponse{}
		return json.Unmarshal(body, into)
	}
	return nil
}
