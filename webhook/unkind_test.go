package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// panickingStore panics in the method of that name, and counts what it gave and got back.
type panickingStore struct {
	in       string
	claimed  int
	released int
}

func (s *panickingStore) Claim(context.Context, string) (webhook.ClaimState, error) {
	if s.claimed++; s.in == "Claim" || s.in == "second Claim" && s.claimed == 2 {
		panic("hunter2")
	}
	return webhook.Claimed, nil
}

func (s *panickingStore) Complete(context.Context, string) error {
	if s.in == "Complete" {
		panic("hunter2")
	}
	return nil
}

func (s *panickingStore) Release(context.Context, string) error {
	s.released++
	return nil
}

func TestAStoreThatPanicsHasFailed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct{ status, runs, released int }{
		"Claim": {503, 0, 0}, "second Claim": {503, 0, 1}, "Complete": {200, 1, 0}, "nothing": {200, 1, 0},
	} {
		store, runs := &panickingStore{in: in}, 0
		h := webhook.SMS(func(context.Context, webhook.SMSMessage) error { runs++; return nil }, webhook.WithStore(store))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hook?from=1111&message=yes", nil))
		assert.Equal(t, want.status, w.Code, in)
		assert.Equal(t, want.status == 503, w.Header().Get("Retry-After") != "", in)
		assert.Equal(t, want.runs, runs, in)
		assert.Equal(t, want.released, store.released, in)
	}
}

// statusRecorder knows the status that a handler wrote, as the writers of many routers do.
type statusRecorder struct {
	http.ResponseWriter

	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func TestTheStatusIsAlwaysWritten(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{"?from=1111&message=x": 200, "?message=x": 400} {
		w := &statusRecorder{ResponseWriter: httptest.NewRecorder()}
		webhook.SMS(func(context.Context, webhook.SMSMessage) error { return nil }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hook"+query, nil))
		assert.Equal(t, want, w.status, query)
	}
}

func TestALogThatPanicsChangesNoAnswer(t *testing.T) {
	t.Parallel()
	h := webhook.SMS(func(context.Context, webhook.SMSMessage) error { return nil }, webhook.WithLogger(slog.New(panickingLog{slog.DiscardHandler})))
	w := httptest.NewRecorder()
	require.NotPanics(t, func() { h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hook?from=1111&message=x", nil)) })
	assert.Equal(t, 200, w.Code)
}

type panickingLog struct{ slog.Handler }

func (panickingLog) Enabled(context.Context, slog.Level) bool { return true }

func (panickingLog) Handle(context.Context, slog.Record) error { panic("hunter2") }

func TestProofComesBeforeABodyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := webhook.SMS(func(context.Context, webhook.SMSMessage) error { return nil }, webhook.WithPOST(), webhook.WithSecret("key", "s3cret"))
	for query, want := range map[string]int{"": 403, "?key=s3cret": 400} {
		r := httptest.NewRequest(http.MethodPost, "/hook"+query, io.MultiReader(strings.NewReader("from=1111"), brokenReader{}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, query)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("cut") }

func TestWhatAPanicSaidAndWhatWasOrderedStayOutOfEveryForm(t *testing.T) {
	t.Parallel()
	failure := &webhook.PanicError{Event: "sms", Value: "hunter2", Stack: []byte("hunter2")}
	encoded, err := json.Marshal(failure)
	require.NoError(t, err)
	items := []webhook.OrderItem{{ProductID: "hunter2", Quantity: 1, Price: "9.99"}}
	for _, printed := range []string{string(encoded), fmt.Sprintf("%+v", failure), fmt.Sprintf("%+v", items), fmt.Sprintf("%v", items[0].LogValue())} {
		assert.NotContains(t, printed, "hunter2")
		assert.NotContains(t, printed, "9.99")
	}
}
