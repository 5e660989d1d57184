package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// replay replays every example with a contract, and joins an error for each wrong result.
func (l *learner) replay(names contract.Contract) error {
	var problems []error
	if l.examples.request != nil {
		problems = append(problems, l.replayRequest(names))
	}
	for _, example := range l.examples.accepted {
		problems = append(problems, l.replayAccepted(names, example))
	}
	for _, example := range l.examples.refused {
		problems = append(problems, l.replayRefused(names, example))
	}
	if l.examples.row != nil {
		problems = append(problems, l.replayRow(names, l.examples.row))
	}
	for _, example := range l.examples.inbound {
		problems = append(problems, l.replayInbound(names, example))
	}
	for _, example := range l.examples.delivery {
		problems = append(problems, l.replayDelivery(names, example))
	}
	if l.overlay.Delivery.Placeholders != nil {
		problems = append(problems, l.replayPlaceholders(names))
	}
	return errors.Join(problems...)
}

// stub is a service with one response.
type stub struct {
	status int
	body   string
	sent   *http.Request // the last request
	got    string        // its body
}

func (s *stub) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = r
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.got = string(body)
	}
	contentType := "text/plain; charset=utf-8"
	if isObject(s.body) || isList(s.body) {
		contentType = "application/json"
	}
	return &http.Response{
		Status: fmt.Sprint(s.status, " ", http.StatusText(s.status)), StatusCode: s.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(s.body)), ContentLength: int64(len(s.body)),
		Request: r,
	}, nil
}

var variable = regexp.MustCompile(`\{([a-z0-9_]+)\}`)

// client returns a client of the stub.
func (s *stub) client(names contract.Contract) (*messaging.Client, error) {
	options := []messaging.Option{
		messaging.WithContract(names),
		messaging.WithHTTPClient(&http.Client{Transport: s}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithLenientLimits(),
		messaging.WithPlainHTTP(),
	}
	t := table.Of(names)
	pair := t.Auth.KeyPair
	switch {
	case reflect.DeepEqual(pair, table.Of(contract.Default()).Auth.KeyPair):
		options = append(options, messaging.WithToken("token"))
	case pair.Secret == "" && pair.In != "basic":
		options = append(options, messaging.WithAPIKey("key", ""))
	default:
		options = append(options, messaging.WithAPIKey("key", "secret"))
	}
	seen := map[string]bool{}
	for _, found := range variable.FindAllStringSubmatch(t.SMSSend.Path+t.SMSList.Path, -1) {
		if name := found[1]; !seen[name] {
			seen[name] = true
			options = append(options, messaging.WithVariable(name, name))
		}
	}
	return messaging.NewClient("http://127.0.0.1", options...)
}

// message returns the message of the request, with the values of an example.
func (l *learner) message(example *Example) sms.Message {
	value := func(concept string) string {
		if l.overlay.Send.Fields[concept] == "" {
			return ""
		}
		return cmp.Or(example.values[concept], l.examples.request.values[concept])
	}
	return sms.Message{
		From: cmp.Or(value("from"), "ACME"), To: value("to"), Text: value("text"),
		CallbackURL: value("callback"), ReferenceID: value("reference"),
	}
}

// send sends the message of an example to a stub.
func (l *learner) send(names contract.Contract, example *Example, s *stub) (messaging.Receipt, error) {
	client, err := s.client(names)
	if err != nil {
		return messaging.Receipt{}, err
	}
	m := l.message(example)
	if table.Of(names).SMSSend.Fields["from"] == "" {
		m.From = ""
	}
	return client.SMS.Send(context.Background(), m)
}

// replayRequest compares the request that the contract makes with the example.
func (l *learner) replayRequest(names contract.Contract) error {
	example := l.examples.request
	s := &stub{status: http.StatusBadRequest, body: "{}"}
	if _, err := l.send(names, example, s); s.sent == nil {
		return example.errorf("the contract cannot send the message: %w", err)
	}
	want := l.valuesOf(l.leaves)
	var got map[string]any
	switch {
	case l.request.isJSON:
		got = l.valuesOf(leavesOf(s.got))
	case l.request.isForm:
		got = l.valuesOf(formLeaves(s.got))
	default:
		got = l.valuesOf(formLeaves(s.sent.URL.RawQuery))
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[path], want[path]) {
			return example.errorf("the contract writes %s at %s, but the example has %s",
				document.Encode(got[path]), path, document.Encode(want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[path]; !ok {
			return example.errorf("the contract writes %s, which the example does not have", path)
		}
	}
	return nil
}

// valuesOf returns values by their paths, without credentials and without the values that the overlay leaves out on purpose.
func (l *learner) valuesOf(leaves []leaf) map[string]any {
	pair := l.overlay.Auth.KeyPair
	values := map[string]any{}
	for _, at := range leaves {
		isCredential := at.path == pair.Key || pair.Secret != nil && at.path == *pair.Secret
		if !isCredential && !slices.Contains(l.ignored, at.path) {
			values[at.path] = at.value
		}
	}
	return values
}

func (l *learner) replayAccepted(names contract.Contract, example *Example) error {
	receipt, err := l.send(names, example, &stub{status: example.status, body: example.text})
	if err != nil {
		hint := ""
		if example.values["to"] == "" && namesRecipient(example.text) {
			hint = "; if the example is about another message, add the line to: and the number in it"
		}
		return example.errorf("the result is %s and not accepted: %w%s", messaging.VerdictOf(err), err, hint)
	}
	id := example.values["id"]
	isRead := len(table.Of(names).SMSSend.Response["id"]) > 0
	if id != "" && isRead && receipt.ID != id {
		return example.errorf("got the ID %q, want %q", receipt.ID, id)
	}
	return nil
}

// namesRecipient reports whether a response has a number under the name of a recipient.
func namesRecipient(response string) bool {
	isRecipient := func(l leaf) bool {
		return isNameOf("to", l.name) && isNumber.MatchString(strings.TrimPrefix(l.word, "+"))
	}
	return slices.ContainsFunc(leavesOf(response), isRecipient)
}

func (l *learner) replayRefused(names contract.Contract, example *Example) error {
	_, err := l.send(names, example, &stub{status: example.status, body: example.text})
	if verdict := messaging.VerdictOf(err); verdict != messaging.Refused {
		if err == nil {
			return example.errorf("the result is accepted and not refused: no member that the contract reads reports a failure")
		}
		return example.errorf("the result is %s and not refused: %w", verdict, err)
	}
	id := example.values["request"]
	if refusal, ok := errors.AsType[*messaging.Error](err); ok && id != "" && refusal.RequestID != id {
		return example.errorf("got the request ID %q, want %q", refusal.RequestID, id)
	}
	class := example.values["class"]
	if errors.Is(err, sentinels()[class]) {
		return nil
	}
	for _, other := range slices.Sorted(maps.Keys(sentinels())) {
		if errors.Is(err, sentinels()[other]) {
			return example.errorf("refused as %s and not as %s: nothing in the response distinguishes it from %s; "+
				"if it has a code, add the line code: and its value", other, class, other)
		}
	}
	l.overlay.note("a refusal of the class "+class+" has no code of its own", sectionErrors, "code")
	return nil
}

func (l *learner) replayRow(names contract.Contract, example *Example) error {
	body := example.text
	if l.overlay.List.Items == nil {
		body = "[" + body + "]" // one row alone
	}
	s := &stub{status: http.StatusOK, body: body}
	client, err := s.client(l.overlay.forReading(names))
	if err != nil {
		return example.errorf("%w", err)
	}
	rows, err := firstRows(client)
	if len(rows) == 0 {
		return example.errorf("no row is read: %w", cmp.Or(err, errors.New("the listing is empty")))
	}
	l.noteTime(rows)
	return compareRow(example, rows)
}

// firstRows returns the rows of the first page of a listing, with an error if some of them could not be read in full.
func firstRows(client *messaging.Client) ([]sms.Transaction, error) {
	next, stop := iter.Pull2(client.SMS.Pages(context.Background(), sms.ListOptions{}))
	defer stop()
	page, err, _ := next()
	return page.Transactions, err
}

// isSame reports whether a row or a report with this ID and this reference is the one in the example. The reference decides only if the example
// names no ID.
func (e *Example) isSame(id, reference string) bool {
	if known := e.values["id"]; known != "" {
		return id == known
	}
	return reference == e.values["reference"]
}

// compareRow compares the row of the example with the transaction that was read.
func compareRow(example *Example, rows []sms.Transaction) error {
	isExample := func(tx sms.Transaction) bool { return example.isSame(tx.ID, tx.ReferenceID) }
	i := slices.IndexFunc(rows, isExample)
	if i < 0 {
		return example.errorf("no row is read with that ID or reference")
	}
	tx := rows[i]
	status := ""
	if example.values["status"] != "" {
		status = example.values["means"]
	}
	problems := compare(example, map[string]string{
		"reference": tx.ReferenceID, "request": tx.RequestID, "category": tx.CategoryID, "from": tx.From, "to": tx.To, "text": tx.Text,
		"sendStatus": tx.SendStatus, "currency": tx.Currency, "operator": tx.Operator, "country": tx.Country, "description": tx.Description,
	})
	if status != "" && tx.Status.String() != status {
		problems = append(problems, example.errorf("got the status %s, want %s", tx.Status, status))
	}
	if example.values["created"] != "" && tx.CreatedAt.IsZero() {
		const text = "the time %q has a layout that the default contract does not read: remove the line created:, and write sms.list.layouts"
		problems = append(problems, example.errorf(text, example.values["created"]))
	}
	return errors.Join(problems...)
}

// compare returns an error for each value of an example that was read wrongly.
func compare(example *Example, read map[string]string) []error {
	var problems []error
	for _, concept := range slices.Sorted(maps.Keys(read)) {
		got := read[concept]
		want := example.values[concept]
		if want != "" && !matches(got, want) && !matches(want, got) {
			problems = append(problems, example.errorf("%s: got %q, want %q", concept, got, want))
		}
	}
	return problems
}

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

func (l *learner) replayInbound(names contract.Contract, example *Example) error {
	hooks, err := receiver(names)
	if err != nil {
		return example.errorf("%w", err)
	}
	c, err := example.parseCallback()
	if err != nil {
		return err
	}
	messages, err := hooks.ParseSMSMessages(c.call())
	if len(messages) == 0 {
		return example.errorf("no message is read: %w", cmp.Or(err, errors.New("the call is empty")))
	}
	m := messages[0]
	return errors.Join(compare(example, map[string]string{
		"id": m.ID, "from": m.From, "to": m.To, "text": m.Text, "time": m.RawTime, "reference": m.ReferenceID, "operator": m.Operator,
		"keyword": m.Keyword,
	})...)
}

func (l *learner) replayDelivery(names contract.Contract, example *Example) error {
	hooks, err := receiver(names)
	if err != nil {
		return example.errorf("%w", err)
	}
	c, err := example.parseCallback()
	if err != nil {
		return err
	}
	reports, err := hooks.ParseDelivery(c.call())
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
	})
	if string(report.Status) != example.values["means"] {
		problems = append(problems, example.errorf("got the status %s, want %s", report.Status, example.values["means"]))
	}
	return errors.Join(problems...)
}
