package contract_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// publicService is a service whose documentation is public, as far as the test has it speak: see testdata/public/README.md.
type publicService struct {
	Name          string
	Documentation string
	Shows         string
	Lacks         string
	Unverified    string
	Token         string
	Key, Secret   string
	Message       sms.Message
	Sends         []publicSend
	List          *publicList
	Settle        []messagingtest.Exchange
	Inbound       []publicCallback
	Delivery      []publicCallback
}

type publicSend struct {
	messagingtest.Exchange

	Name    string
	Verdict string
	Receipt map[string]any // of an accepted message: some of its fields
	Class   string         // of an error
	Code    string
	Says    string
}

type publicList struct {
	Options sms.ListOptions
	Pages   []messagingtest.Exchange
	Want    []string
}

type publicCallback struct {
	Request messagingtest.RecordedRequest
	Want    []string
}

// publicServices returns the services by their folders, in alphabetical order.
func publicServices(t *testing.T) (folders []string, services map[string]publicService) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "public", "*", "service.json"))
	require.NoError(t, err)
	services = map[string]publicService{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var service publicService
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		require.NoError(t, strict.Decode(&service), file)
		folder := filepath.Base(filepath.Dir(file))
		folders, services[folder] = append(folders, folder), service
	}
	return folders, services
}

// TestPublicServices lets a client and a receiver with the overlay of each service speak with it.
func TestPublicServices(t *testing.T) {
	t.Parallel()
	folders, services := publicServices(t)
	full := 0
	for _, folder := range folders {
		service := services[folder]
		if service.isFull() {
			full++
		}
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			overlay, err := os.ReadFile(filepath.Join("testdata", "public", folder, "contract.json"))
			require.NoError(t, err)
			names, err := contract.Parse(overlay)
			require.NoError(t, err)
			service.run(t, names)
		})
	}
	assert.GreaterOrEqual(t, len(folders), 25)
	assert.GreaterOrEqual(t, full, 22, "services that a contract says in full")
}

// isFull reports whether a contract says all of a service of which more than the sending could be looked up.
func (s *publicService) isFull() bool {
	return s.Lacks == "" && (s.List != nil || s.Inbound != nil || s.Delivery != nil)
}

// assumed returns what the overlay of a service assumes.
func (s *publicService) assumed() []string {
	return strings.FieldsFunc(s.Unverified, func(r rune) bool { return r == ';' })
}

// TestServiceThatOnlySendsIsNotFull has a service of which neither callbacks nor a listing could be looked up.
func TestServiceThatOnlySendsIsNotFull(t *testing.T) {
	t.Parallel()
	_, services := publicServices(t)
	for folder, full := range map[string]bool{"jasmin": false, "twilio": true} {
		service := services[folder]
		assert.Equal(t, full, service.isFull(), folder)
	}
	assert.False(t, new(publicService).isFull())
}

const servicesPage = "../docs/services.md"

// The summary and the table of docs/services.md are those of the services.
func TestServicesPage(t *testing.T) {
	t.Parallel()
	yes := func(shown bool) string { return map[bool]string{true: "yes", false: "–"}[shown] }
	table := "| service | sends, errors | listing | settled by reference | inbound | reports | not in the contract | assumed |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	folders, services := publicServices(t)
	full, whole, assumed := 0, 0, 0
	for _, folder := range folders {
		s := services[folder]
		if s.isFull() {
			full++
		}
		if assumed += len(s.assumed()); s.Unverified == "" {
			whole++
		}
		table += fmt.Sprintf("| [%s](../contract/testdata/public/%s) | yes | %s | %s | %s | %s | %s | %s |\n", s.Name, folder,
			yes(s.List != nil), yes(s.Settle != nil), yes(s.Inbound != nil), yes(s.Delivery != nil), s.Lacks, s.Unverified)
	}
	page, err := os.ReadFile(servicesPage)
	require.NoError(t, err)
	summary := fmt.Sprintf("Of the %d services below, %d name no point that is assumed; the overlays of the other %d rest on %d assumed points, which the last\n"+
		"column names. A contract says %d in full, as far as that is known: nothing that they document is beyond it, and more than the sending could\n"+
		"be looked up.\n", len(folders), whole, len(folders)-whole, assumed, full)
	rows, first := regexp.MustCompile(`(?m)(^\|.*\n)+`), regexp.MustCompile(`(?m)^Of the \d+ services (.+\n)+`)
	if *update {
		page = first.ReplaceAll(rows.ReplaceAll(page, []byte(table)), []byte(summary))
		require.NoError(t, os.WriteFile(servicesPage, page, 0o600))
		return
	}
	assert.Equal(t, table, string(rows.Find(page)), "write it with -update")
	assert.Equal(t, summary, string(first.Find(page)), "write it with -update")
}

func (s *publicService) run(t *testing.T, names contract.Contract) {
	t.Helper()
	shown := map[string]bool{}
	for _, send := range s.Sends {
		shown[send.Verdict] = true
		t.Run(send.Name, func(t *testing.T) { s.send(t, names, send) })
	}
	assert.Equal(t, map[string]bool{"accepted": true, "refused": true}, shown, "the verdicts that the sends show")
	if s.List != nil {
		t.Run("list", func(t *testing.T) { s.list(t, names) })
	}
	if s.Settle != nil {
		t.Run("settle", func(t *testing.T) { s.settle(t, names) })
	}
	receiver, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST())
	require.NoError(t, err)
	for _, call := range s.Inbound {
		t.Run("inbound", func(t *testing.T) { call.receive(t, receiver) })
	}
	for _, call := range s.Delivery {
		t.Run("delivery", func(t *testing.T) { call.receive(t, receiver) })
	}
}

func (s *publicService) client(t *testing.T, names contract.Contract, talk []messagingtest.Exchange, more ...messaging.Option) *messaging.Client {
	t.Helper()
	credentials := messaging.WithToken(s.Token)
	if s.Token == "" {
		credentials = messaging.WithAPIKey(s.Key, s.Secret)
	}
	more = append(more, credentials, messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	client, err := messaging.NewClient(fake(t, talk), more...)
	require.NoError(t, err)
	return client
}

// send sends the message. What a receipt and an error do not show is of no service's documentation.
func (s *publicService) send(t *testing.T, names contract.Contract, send publicSend) {
	t.Helper()
	receipt, err := s.client(t, names, []messagingtest.Exchange{send.Exchange}).SMS.Send(t.Context(), s.Message)
	require.Equal(t, send.Verdict, messaging.VerdictOf(err).String(), "%v", err)
	if err == nil {
		text, err := json.Marshal(receipt)
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(text, &got))
		for field, want := range send.Receipt {
			assert.EqualValues(t, want, got[field], field)
		}
		return
	}
	var failure *messaging.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, []string{send.Code, send.Says}, []string{failure.Code, failure.Message})
	if class, ok := map[string]error{
		"unauthorized": messaging.ErrUnauthorized, "rateLimited": messaging.ErrRateLimited, "insufficientBalance": messaging.ErrInsufficientBalance,
		"duplicate": messaging.ErrDuplicate, "notFound": messaging.ErrNotFound, "unavailable": messaging.ErrUnavailable, "invalid": messaging.ErrInvalid,
	}[send.Class]; assert.True(t, ok, "the class %q", send.Class) {
		assert.ErrorIs(t, err, class)
	}
}

func (s *publicService) list(t *testing.T, names contract.Contract) {
	t.Helper()
	var got []string
	for tx, err := range s.client(t, names, s.List.Pages).SMS.List(t.Context(), s.List.Options) {
		require.NoError(t, err)
		got = append(got, line(tx.ID, tx.ReferenceID, tx.From, tx.To, string(tx.Status), tx.Price, tx.Currency, at(tx.CreatedAt)))
	}
	assert.Equal(t, s.List.Want, got)
}

// settle loses the response to the message, and finds the message in the listing.
func (s *publicService) settle(t *testing.T, names contract.Contract) {
	t.Helper()
	policy := messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Millisecond})
	client := s.client(t, names, append([]messagingtest.Exchange{{}}, s.Settle...), policy)
	receipt, err := client.SMS.SendOnce(t.Context(), s.Message)
	require.NoError(t, err)
	assert.NotEmpty(t, receipt.ID)
	assert.Equal(t, s.Message.ReferenceID, receipt.ReferenceID)
}

func (c publicCallback) receive(t *testing.T, receiver *webhook.Receiver) {
	t.Helper()
	var got []string
	mux := http.NewServeMux()
	mux.Handle("/inbound", receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		assert.False(t, m.Ambiguous)
		got = append(got, line(m.ID, m.From, m.To, m.Text, at(m.ReceivedAt)))
		return nil
	}))
	mux.Handle("/delivery", receiver.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		assert.False(t, d.Ambiguous)
		got = append(got, line(d.ID, d.ReferenceID, d.To, string(d.Status), at(d.StatusAt)))
		return nil
	}))
	body, contentType := c.Request.Text, "application/x-www-form-urlencoded"
	if c.Request.JSON != nil {
		body, contentType = string(c.Request.JSON), "application/json"
	}
	target := url.URL{Path: c.Request.Path, RawQuery: c.Request.Query.Encode()}
	r := httptest.NewRequest(c.Request.Method, target.String(), strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, c.Want, got)
}

func line(fields ...string) string { return strings.Join(fields, " | ") }

func at(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return when.UTC().Format(time.RFC3339)
}

// fake starts a server that expects the requests in their order, and gives the responses. A request without a method can be any, and a
// response without a status is lost.
func fake(t *testing.T, talk []messagingtest.Exchange) string {
	t.Helper()
	var mu sync.Mutex
	count := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !assert.Less(t, count, len(talk), "a request too many") {
			return
		}
		x := talk[count]
		count++
		if x.Request.Method != "" {
			assert.Equal(t, describe(t, x.Request), describe(t, received(t, r, x.Request.Header)))
		}
		if x.Response.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		body := []byte(x.Response.Text)
		if x.Response.JSON != nil {
			body = x.Response.JSON
			w.Header().Set("Content-Type", "application/json")
		}
		maps.Copy(w.Header(), x.Response.Header)
		w.WriteHeader(x.Response.Status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(func() {
		srv.Close()
		assert.Equal(t, len(talk), count, "requests")
	})
	return srv.URL
}

// received returns a request with those headers that are wanted.
func received(t *testing.T, r *http.Request, wanted http.Header) messagingtest.RecordedRequest {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	assert.NoError(t, err)
	got := messagingtest.RecordedRequest{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: http.Header{}}
	for name := range wanted {
		got.Header[name] = r.Header[name]
	}
	if json.Valid(body) {
		got.JSON = body
	} else {
		got.Text = string(body)
	}
	return got
}

// describe returns a request in a form that can be compared.
func describe(t *testing.T, r messagingtest.RecordedRequest) string {
	t.Helper()
	form, err := url.ParseQuery(r.Text)
	assert.NoError(t, err)
	var document any
	if r.JSON != nil {
		assert.NoError(t, json.Unmarshal(r.JSON, &document))
	}
	text, err := json.MarshalIndent(document, "", "  ")
	assert.NoError(t, err)
	return fmt.Sprintf("%s %s?%s\n%v\n%s%s", r.Method, r.Path, r.Query.Encode(), r.Header, form.Encode(), text)
}
