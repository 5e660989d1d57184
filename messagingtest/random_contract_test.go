package messagingtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

var (
	contracts    = flag.Uint64("contracts", 100, "how many random contracts are tried")
	contractSeed = flag.Uint64("contract", 0, "the seed of the only random contract to try; 0 tries all")
)

// TestRandomContracts draws contracts at random, and lets a client and a receiver that have one speak to a test server that has
// it: what they send, list, settle and receive agrees with the ledger.
func TestRandomContracts(t *testing.T) {
	t.Parallel()
	if *contractSeed > 0 {
		tryContract(t, *contractSeed, newSwitch(t))
		return
	}
	const groups = 2 // at a time
	for group := range uint64(groups) {
		t.Run(fmt.Sprint("group ", group), func(t *testing.T) {
			t.Parallel()
			hooks := newSwitch(t)
			for seed := 1 + group; seed <= *contracts && !t.Failed(); seed += groups {
				tryContract(t, seed, hooks)
			}
		})
	}
}

func tryContract(t *testing.T, seed uint64, hooks *hookSwitch) {
	t.Helper()
	overlay := randomOverlay(seed)
	if !t.Run(fmt.Sprint(seed), func(t *testing.T) { newTalk(t, overlay, seed, hooks).run() }) {
		t.Logf("The contract of seed %d (try it alone with -contract %d):\n%s", seed, seed, overlay)
	}
}

// A hookSwitch is a web server whose handler changes, so that all contracts need only one.
type hookSwitch struct {
	*httptest.Server

	handler atomic.Value
}

func newSwitch(t *testing.T) *hookSwitch {
	t.Helper()
	s := &hookSwitch{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handler.Load().(http.Handler).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// A talk is between a client, a receiver and a server that have one contract.
type talk struct {
	*testing.T

	seed   uint64
	names  contract.Contract
	srv    *messagingtest.Server
	client *messaging.Client
	hooks  *hookSwitch

	callback string // for delivery reports

	sms     []webhook.SMSMessage
	chats   []webhook.ChatMessage
	reports []webhook.DeliveryReport
}

func newTalk(t *testing.T, overlay []byte, seed uint64, hooks *hookSwitch) *talk {
	t.Helper()
	names, err := contract.Parse(overlay)
	require.NoError(t, err)
	k := &talk{T: t, seed: seed, names: names, srv: messagingtest.NewServer(t, messagingtest.WithContract(names)), hooks: hooks}
	credentials := messaging.WithToken(k.srv.Token)
	if seed/2%2 == 0 {
		secret := k.srv.APISecret
		if table.Of(names).Auth.KeyPair.Secret == "" {
			secret = ""
		}
		credentials = messaging.WithAPIKey(k.srv.APIKey, secret)
	}
	k.client, err = messaging.NewClient(k.srv.URL, credentials, messaging.WithContract(names), messaging.WithVariable("account", "AC 1"),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithSettle(messaging.SettlePolicy{Window: 10 * time.Second, Interval: time.Millisecond}))
	require.NoError(t, err)

	receiver, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST(), webhook.WithoutProof())
	require.NoError(t, err)
	k.callback, err = receiver.DeliveryURL(hooks.URL + "/delivery")
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/sms", receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		k.sms = append(k.sms, m)
		return nil
	}))
	chat := func(_ context.Context, m webhook.ChatMessage) error {
		k.chats = append(k.chats, m)
		return nil
	}
	mux.Handle("/chatapp1", receiver.ChatApp1(chat))
	mux.Handle("/chatapp2", receiver.ChatApp2(chat))
	mux.Handle("/delivery", receiver.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		k.reports = append(k.reports, d)
		return nil
	}))
	hooks.handler.Store(http.Handler(mux))
	return k
}

func (k *talk) run() {
	k.sendSMS()
	k.sendChats()
	k.refuse()
	k.settle()
	k.list()
	k.receive()
	k.report()
}

// last returns the newest message in the ledger.
func (k *talk) last() messagingtest.Sent {
	sent := k.srv.Sent()
	require.NotEmpty(k, sent)
	return sent[len(sent)-1]
}

// sameAmount compares decimal numbers, regardless of zeros at the end.
func (k *talk) sameAmount(want, got, what string) {
	k.Helper()
	a, ok1 := new(big.Rat).SetString(want)
	b, ok2 := new(big.Rat).SetString(got)
	require.True(k, ok1 && ok2 && a.Cmp(b) == 0, "%s: want %s, got %q", what, want, got)
}

func (k *talk) sendSMS() {
	k.Helper()
	reference := "order/17 é"
	if k.idIsReference() {
		reference = "order/17-é" // an ID has no spaces
	}
	message := sms.Message{
		From: "ACME & co", To: "+639171234567", Text: "Kumusta, 世界? {\"a\": [1]} 100% + \"x\"\n", CallbackURL: k.callback, ReferenceID: reference,
		Extra: map[string]any{"extraText": "a b", "extraNumber": 17},
	}
	receipt, err := k.client.SMS.Send(k.Context(), message)
	require.NoError(k, err)
	m := k.last()
	require.Equal(k, []string{message.From, message.To, message.Text, message.CallbackURL, message.ReferenceID},
		[]string{m.From, m.To, m.Text, m.CallbackURL, m.ReferenceID})
	require.ElementsMatch(k, []string{"extraText", "extraNumber"}, slices.Collect(maps.Keys(m.Extra)))
	k.checkReceipt(m, receipt)
	if k.speaksText(m.Channel) {
		return
	}
	k.sameAmount("0.50", receipt.UnitCost, "unit cost")
	k.sameAmount(cost(m.Parts), receipt.Cost, "cost")
	require.Equal(k, "XTS", receipt.Currency)
}

// speaksText reports whether the response to a send over a channel is a text.
func (k *talk) speaksText(channel string) bool {
	t := table.Of(k.names)
	send := map[string]map[string][]string{
		"sms": t.SMSSend.Response, "chatapp1": t.ChatApp1Send.Response,
	}
	return slices.Equal(send[channel]["status"], []string{""})
}

func (k *talk) idIsReference() bool { return table.Of(k.names).SMSSend.IDIsReference() }

// cost returns what the server takes for so many parts.
func cost(parts int) string { return fmt.Sprintf("%d.%02d", parts/2, parts%2*50) }

func (k *talk) checkReceipt(m messagingtest.Sent, receipt messaging.Receipt) {
	k.Helper()
	t := table.Of(k.names)
	ids := map[string][]string{
		"sms": t.SMSSend.Response["id"], "chatapp1": t.ChatApp1Send.Response["id"],
		"chatapp2": t.ChatApp2Send.Response["id"],
	}
	if len(ids[m.Channel]) > 0 {
		require.Equal(k, m.ID, receipt.ID)
	} else {
		require.Empty(k, receipt.ID)
	}
	require.Equal(k, m.ReferenceID, receipt.ReferenceID)
	if k.speaksText(m.Channel) {
		require.Empty(k, receipt.RequestID+receipt.Operator+receipt.Cost+receipt.Currency, "a text says none of it")
		return
	}
	require.Equal(k, m.RequestID, receipt.RequestID)
	require.Equal(k, m.Parts, receipt.Parts)
	require.Equal(k, "OP_1", receipt.Operator)
}

func (k *talk) sendChats() {
	k.Helper()
	fallback := sms.Fallback{From: "ACME", Text: "By SMS"}
	one := chatapp1.New("channel-1", "639171234567").Template(chatapp1.Template{
		ID: "t-1", Params: map[string]string{"name": "Ana"}, Language: "en",
	}).WithTTL(10 * time.Minute).WithFallback(fallback).WithCallback(k.callback).WithReference("r-1")
	receipt, err := k.client.ChatApp1.Send(k.Context(), one)
	require.NoError(k, err)
	m := k.last()
	k.checkReceipt(m, receipt)
	require.Equal(k, []any{"channel-1", "template", "t-1", 10 * time.Minute, "ACME", "By SMS", k.callback},
		[]any{m.From, m.Kind, m.Template, m.TTL, m.FallbackFrom, m.FallbackText, m.CallbackURL})
	require.Empty(k, m.Extra)

	two := chatapp2.Message{
		To: "+639171234567", TTL: 5 * time.Minute, Fallback: &fallback, CallbackURL: k.callback, ReferenceID: "r-2",
		Content: chatapp2.Interactive{Body: "Yes?", Action: chatapp2.ReplyButtons{{ID: "y", Title: "Yes"}}},
	}
	receipt, err = k.client.ChatApp2.Send(k.Context(), two)
	require.NoError(k, err)
	m = k.last()
	k.checkReceipt(m, receipt)
	require.Equal(k, []any{"+639171234567", "interactive", 5 * time.Minute, "ACME", "By SMS", k.callback},
		[]any{m.To, m.Kind, m.TTL, m.FallbackFrom, m.FallbackText, m.CallbackURL})
	require.Empty(k, m.Extra)
}

// refuse lets the server refuse a message for a reason that has a class.
func (k *talk) refuse() {
	k.Helper()
	before := len(k.srv.Sent())
	message := sms.Message{From: "ACME", To: "639171234567", Text: "Hi", ReferenceID: "refused"}
	var want error
	switch k.seed % 4 {
	case 3:
		k.srv.Inject(messagingtest.FaultStatus(http.StatusOK, 0), 1) // by a code, or by the status of the message
		want = messaging.ErrInvalid
		if len(table.Of(k.names).SMSSend.Refused) > 0 {
			want = nil
		}
	case 0:
		k.srv.RefuseDuplicates(true)
		message.ReferenceID = k.srv.Sent()[0].ReferenceID
		want = messaging.ErrDuplicate
	case 1:
		k.srv.SetBalance("0")
		want = messaging.ErrInsufficientBalance
	default:
		k.srv.Inject(messagingtest.FaultStatus(http.StatusUnauthorized, 0), 1)
		want = messaging.ErrUnauthorized
	}
	_, err := k.client.SMS.Send(k.Context(), message)
	if require.Error(k, err); want != nil {
		require.ErrorIs(k, err, want)
	}
	isDuplicate := errors.Is(err, messaging.ErrDuplicate) // which is unknown with HTTP 409
	require.True(k, isDuplicate || messaging.VerdictOf(err) == messaging.Refused, "%v", err)
	require.Len(k, k.srv.Sent(), before)
	k.srv.RefuseDuplicates(false)
	k.srv.SetBalance("1000")
}

// settle loses the response to a message, which is listed all the same.
func (k *talk) settle() {
	k.Helper()
	k.srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
	message := sms.Message{From: "ACME", To: "639171234567", Text: "Settle me", ReferenceID: "settle-1"}
	receipt, err := k.client.SMS.SendOnce(k.Context(), message)
	require.NoError(k, err)
	require.Equal(k, k.last().ID, receipt.ID)
}

// statuses returns the words of the contract for statuses that a row can have.
func (k *talk) statuses() (words []string, meanings []contract.Status) {
	for _, status := range slices.Sorted(maps.Keys(table.Of(k.names).WebhookDelivery.Statuses)) {
		for _, word := range table.Of(k.names).WebhookDelivery.Statuses[status] {
			words, meanings = append(words, strings.Replace(word, "*", "XY", 1)), append(meanings, contract.Status(status))
		}
	}
	return words, meanings
}

func (k *talk) list() {
	k.Helper()
	words, meanings := k.statuses()
	day := time.Date(2026, time.October, 3, 14, 44, 23, 0, time.UTC)
	k.srv.Reset()
	references := "ref&"
	if k.idIsReference() {
		references = "row-"
	}
	for i := range 5 {
		k.srv.Seed(messagingtest.Sent{
			ID: fmt.Sprint("row-", i), RequestID: fmt.Sprint("q ", i), ReferenceID: fmt.Sprint(references, i), CategoryID: "c-1", From: "ACME", To: "+639171234567",
			Text: strings.Repeat("é世", 20*(i+1)), At: day.Add(time.Duration(i) * 24 * time.Hour), SentAt: day.Add(time.Hour), DeliveryStatus: words[i%len(words)],
			Extra: map[string]json.RawMessage{"own": []byte(`{"a":1}`)},
		})
	}
	options := sms.ListOptions{PageSize: 2}
	op := table.Of(k.names).SMSList
	if op.Paging.By == "none" {
		options.PageSize = 0
	}
	read := func(what string, o sms.ListOptions, want ...string) []sms.Transaction {
		k.Helper()
		var rows []sms.Transaction
		var ids []string
		for tx, err := range k.client.SMS.List(k.Context(), o) {
			require.NoError(k, err, what)
			rows, ids = append(rows, tx), append(ids, tx.ID)
		}
		require.Equal(k, want, ids, what)
		return rows
	}
	sendStatus := "1"
	send := table.Of(k.names).SMSSend
	if slices.Contains(send.Refused, sendStatus) || !slices.Equal(send.Accepted, table.Default().SMSSend.Accepted) {
		sendStatus = strings.TrimSuffix(send.Accepted[0], "*")
	}
	rows := read("all", options, "row-4", "row-3", "row-2", "row-1", "row-0")
	for i, m := range slices.Backward(k.srv.Sent()) {
		tx := rows[4-i]
		require.Equal(k, []any{m.ID, m.RequestID, m.ReferenceID, m.CategoryID, m.From, m.To, m.Text, m.Parts, sendStatus, m.DeliveryStatus, "OP_1", "ZZ", "accepted", "XTS"},
			[]any{
				tx.ID, tx.RequestID, tx.ReferenceID, tx.CategoryID, tx.From, tx.To, tx.Text, tx.Parts, tx.SendStatus, tx.DeliveryStatus, tx.Operator, tx.Country,
				tx.Description, tx.Currency,
			})
		require.Equal(k, meanings[i%len(words)], tx.Status)
		k.sameAmount(cost(m.Parts), tx.Price, "price")
		createdAt := m.At
		if slices.Contains(op.Layouts, "2006.01.02") && op.Layouts[0] == "2006.01.02" {
			createdAt = tx.CreatedAt
		}
		require.True(k, createdAt.Equal(tx.CreatedAt), "created at %s, want %s", tx.CreatedAt, m.At)
		require.True(k, m.SentAt.Equal(tx.SentAt), "sent at %s, want %s", tx.SentAt, m.SentAt)
		require.JSONEq(k, `{"a":1}`, string(tx.Extra["own"]))
	}
	column := []string{op.Record["created"][0], op.Sorts["created"], sms.ByCreated}[k.seed/4%3]
	switch k.seed % 4 {
	case 0:
		read("by ID", sms.ListOptions{ID: "row-1", RequestID: "q 1"}, "row-1")
	case 1:
		read("by status", sms.ListOptions{Status: words[2], CreatedAfter: day}, "row-2")
	case 2:
		read("by time", sms.ListOptions{CreatedAfter: day.Add(24 * time.Hour), CreatedBefore: day.Add(4 * 24 * time.Hour)}, "row-3", "row-2", "row-1")
	default:
		read("sorted", sms.ListOptions{PageSize: options.PageSize, SortBy: column, From: "ACME"}, "row-0", "row-1", "row-2", "row-3", "row-4")
		read("sorted down", sms.ListOptions{SortBy: column, Descending: true, CategoryID: "c-1"}, "row-4", "row-3", "row-2", "row-1", "row-0")
	}
	tx, err := k.client.SMS.Find(k.Context(), references+"2")
	require.NoError(k, err)
	require.Equal(k, "row-2", tx.ID)
}

// encoding returns the way in which callbacks are made.
func (k *talk) encoding() []messagingtest.CallOption {
	return [][]messagingtest.CallOption{nil, {messagingtest.AsForm()}, {messagingtest.AsJSON()}}[k.seed/4%3]
}

func (k *talk) receive() {
	k.Helper()
	at := time.Date(2026, time.October, 3, 14, 44, 23, 0, time.UTC)
	inbound := messagingtest.InboundSMS{
		ID: "in-1", From: "639171234567", To: "2929", Text: "Oo, 100% & é", ReceivedAt: at, ReferenceID: "r-9", Operator: "OP_2", Keyword: "OO",
	}
	if k.seed%3 == 0 { // a number may arrive as a URI
		inbound.From = "tel:+639171234567"
	}
	k.ok(k.srv.CallWebhook(k.Context(), k.hooks.URL+"/sms", inbound, k.encoding()...))
	require.Len(k, k.sms, 1)
	m := k.sms[0]
	inbound.From = strings.TrimPrefix(inbound.From, "tel:")
	got := messagingtest.InboundSMS{
		ID: m.ID, From: m.From, To: m.To, Text: m.Text, ReceivedAt: at, ReferenceID: m.ReferenceID, Operator: m.Operator, Keyword: m.Keyword,
	}
	require.Equal(k, inbound, got)
	k.sameTime(at, m.ReceivedAt, table.Of(k.names).WebhookSMS.Layouts)
	require.False(k, m.Ambiguous)

	path, layouts := "/chatapp1", table.Of(k.names).WebhookChatApp1.Layouts
	chat := messagingtest.InboundChatApp{
		ID: "in-2", From: "639171234567", To: "2929", Name: "Ana", Kind: "image", MediaURL: "https://example.com/a?b=c",
		MediaID: "media-1", MIMEType: "image/png", Caption: "Look", ReceivedAt: at, ReferenceID: "r-8",
	}
	if k.seed%8 < 4 {
		path, layouts, chat.Channel = "/chatapp2", table.Of(k.names).WebhookChatApp2.Layouts, "chatapp2"
	}
	k.ok(k.srv.CallWebhook(k.Context(), k.hooks.URL+path, chat, k.encoding()...))
	require.Len(k, k.chats, 1)
	c := k.chats[0]
	require.Equal(k, []any{chat.ID, chat.From, chat.To, chat.Name, chat.ReferenceID}, []any{c.ID, c.From, c.To, c.Name, c.ReferenceID})
	require.Equal(k, webhook.Media{
		Kind: "image", URL: chat.MediaURL, ID: chat.MediaID, MIMEType: chat.MIMEType, Caption: chat.Caption,
	}, c.Content)
	k.sameTime(at, c.ReceivedAt, layouts)
	require.False(k, c.Ambiguous)
}

func (k *talk) ok(replies []messagingtest.CallResult) {
	k.Helper()
	for _, r := range replies {
		require.NoError(k, r.Err)
		require.Equal(k, http.StatusOK, r.StatusCode, "%s", r.Body)
	}
}

func (k *talk) sameTime(want, got time.Time, layouts []string) {
	k.Helper()
	require.True(k, want.Equal(got) || len(layouts) > 0 && !got.IsZero(), "want %s, got %s", want, got)
}

func (k *talk) report() {
	k.Helper()
	m := k.srv.Sent()[0] // seeded, and so without a callback URL
	replies := k.srv.ReportDelivery(k.Context(), m.ID, "delivered")
	require.ErrorContains(k, replies[0].Err, "without a callback URL")
	reference := "dlr 1"
	if k.idIsReference() {
		reference = "dlr-1"
	}
	_, err := k.client.SMS.Send(k.Context(), sms.Message{
		From: "ACME", To: "+639171234567", Text: "Hi", CallbackURL: k.callback, ReferenceID: reference,
	})
	require.NoError(k, err)
	id := k.last().ID // which the service may not tell
	k.ok(k.srv.ReportDelivery(k.Context(), id, "delivered", k.encoding()...))
	require.Len(k, k.reports, 1)
	d := k.reports[0]
	require.Equal(k, []any{id, webhook.StatusDelivered}, []any{d.ID, d.Status})
	require.False(k, d.Ambiguous)
	require.Equal(k, []string{"+639171234567", reference}, []string{d.To, d.ReferenceID})
}
