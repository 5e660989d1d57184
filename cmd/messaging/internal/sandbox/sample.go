package sandbox

import (
	"cmp"
	_ "embed" // for the samples
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
)

// A sample is a message that the page can send.
type sample struct {
	Name    string            `json:"name"`
	Title   string            `json:"title"`
	Message *chatapp2.Message `json:"message"` // nil sends the first SMS
}

//go:embed samples.json
var samplesText []byte

// samples returns all samples, in the order of the page.
func samples() (all []sample) {
	_ = json.Unmarshal(samplesText, &all) // a part of the program
	return all
}

type sampleBody struct {
	Sample string `json:"sample"`
	To     string `json:"to,omitempty"` // a fictitious number by default
}

// postSample sends a sample to the service, over the network, as a program does.
func (s *Sandbox) postSample(r *request, body sampleBody) (any, error) {
	all := samples()
	i := slices.IndexFunc(all, func(sample sample) bool { return sample.Name == body.Sample })
	if i < 0 {
		return nil, errors.New("sample must be code, buttons, list, carousel, template or image")
	}
	client, err := s.ownClient(r.Request)
	if err != nil {
		return nil, err
	}
	var receipt messaging.Receipt
	first := firstMessage()
	first.To = cmp.Or(body.To, first.To)
	if m := all[i].Message; m != nil {
		m.To = first.To
		receipt, err = client.ChatApp2.Send(r.Context(), *m)
	} else {
		receipt, err = client.SMS.Send(r.Context(), first)
	}
	return map[string]string{"id": receipt.ID, "url": pageURL(s.root, "message", receipt.ID)}, err
}

// ownClient returns a client that sends to the address at which a request came in.
func (s *Sandbox) ownClient(r *http.Request) (*messaging.Client, error) {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr) // by the server
	transport := &http.Transport{DisableKeepAlives: true}              // through no proxy
	return messaging.NewClient(
		"http://"+local.String(), messaging.WithPlainHTTP(), messaging.WithToken(s.programToken()), messaging.WithContract(s.config.Contract),
		messaging.WithHTTPClient(&http.Client{Transport: transport}), messaging.WithTimeout(10*time.Second),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
	)
}
