package learn

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// call returns the request that makes a callback.
func (c *callback) call() *http.Request {
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/"}, Header: http.Header{}, Body: http.NoBody}
	if !c.isJSON {
		r.URL.RawQuery = strings.ReplaceAll(c.text, " ", "+")
		return r
	}
	r.Method = http.MethodPost
	r.Header.Set("Content-Type", "application/json")
	r.Body = io.NopCloser(strings.NewReader(c.text))
	r.ContentLength = int64(len(c.text))
	return r
}

// receiver returns a receiver that accepts every call.
func receiver(names contract.Contract) (*webhook.Receiver, error) {
	anyone := func(*http.Request) error { return nil }
	return webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST(), webhook.WithVerifier(anyone))
}

// callReceiver returns a receiver, and the call of an example for it.
func (r replay) callReceiver(example *Example) (*webhook.Receiver, *http.Request, error) {
	hooks, err := receiver(r.names)
	if err != nil {
		return nil, nil, example.errorf("%w", err)
	}
	c, err := example.parseCallback()
	if err != nil {
		return nil, nil, err
	}
	return hooks, c.call(), nil
}

func (r replay) replayInbound(example *Example) error {
	hooks, call, err := r.callReceiver(example)
	if err != nil {
		return err
	}
	messages, err := hooks.ParseSMSMessages(call)
	if len(messages) == 0 {
		return example.errorf("no message is read: %w", cmp.Or(err, errors.New("the call is empty")))
	}
	m := messages[0]
	return errors.Join(compare(example, map[string]string{
		"id": m.ID, "from": m.From, "to": m.To, "text": m.Text, "time": m.RawTime, "reference": m.ReferenceID, "operator": m.Operator,
		"keyword": m.Keyword,
	})...)
}

func (r replay) replayDelivery(example *Example) error {
	hooks, call, err := r.callReceiver(example)
	if err != nil {
		return err
	}
	reports, err := hooks.ParseDelivery(call)
	if len(reports) == 0 {
		return example.errorf("no report is read: %w", cmp.Or(err, errors.New("the call is empty")))
	}
	isExample := func(report webhook.DeliveryReport) bool { return example.isSame(report.ID, report.ReferenceID) }
	i := slices.IndexFunc(reports, isExample)
	if i < 0 {
		return example.errorf("no report is read with that ID or reference")
	}
	report := reports[i]
	problems := compare(example, map[string]string{
		"reference": report.ReferenceID, "from": report.From, "to": report.To, "time": report.RawTime,
		"errorCode": report.ErrorCode,
	})
	if string(report.Status) != example.values["means"] {
		problems = append(problems, example.errorf("got the status %s, want %s", report.Status, example.values["means"]))
	}
	return errors.Join(problems...)
}
