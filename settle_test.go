package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// soon settles within a short window, for tests of real connections.
func soon() messaging.Option {
	return messaging.WithSettle(messaging.SettlePolicy{Window: 60 * time.Millisecond, Interval: 10 * time.Millisecond})
}

func TestSendOnceSettlesByTheLedger(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare  func(*messagingtest.Server)
		settle   messaging.Option
		verdict  messaging.Verdict
		messages int
	}{
		"nothing goes wrong": {
			func(*messagingtest.Server) {}, soon(), messaging.Accepted, 1,
		},
		"the response is lost": {
			func(srv *messagingtest.Server) { srv.Inject(messagingtest.FaultAcceptThenDrop(), 1) }, soon(), messaging.Accepted, 1,
		},
		"the response is cut": {
			func(srv *messagingtest.Server) { srv.Inject(messagingtest.FaultTruncated(), 1) }, soon(), messaging.Accepted, 1,
		},
		"the request is lost": {
			func(srv *messagingtest.Server) { srv.Inject(messagingtest.FaultDropUnread(), 1) }, soon(), messaging.Unknown, 0,
		},
		"the service refuses": {
			func(srv *messagingtest.Server) { srv.SetBalance("0") }, soon(), messaging.Refused, 0,
		},
		"it is listed late": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
				srv.SetLag(100 * time.Millisecond)
			},
			messaging.WithSettle(messaging.SettlePolicy{Window: 20 * time.Second, Interval: 10 * time.Millisecond}),
			messaging.Accepted, 1,
		},
		"a lookup lasts beyond the window, and says what was listed before": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
				srv.Inject(messagingtest.FaultSlow(400*time.Millisecond), 1)
				srv.SetLag(100 * time.Millisecond)
			},
			messaging.WithSettle(messaging.SettlePolicy{Window: 200 * time.Millisecond, Interval: 20 * time.Millisecond}),
			messaging.Accepted, 1,
		},
		"it is never listed": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
				srv.SetLag(time.Hour)
			},
			soon(), messaging.Unknown, 1,
		},
		"the filter is ignored": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultDropUnread(), 1)
				srv.Seed(messagingtest.Sent{ReferenceID: "another", From: "A", To: "639171234568", Text: "x"})
				srv.IgnoreFilter(true)
			},
			soon(), messaging.Unknown, 1, // the other one
		},
		"the reference was another number's": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultDropUnread(), 1)
				srv.Seed(messagingtest.Sent{ReferenceID: one.ReferenceID, From: "A", To: "639181234568", Text: "x"})
			},
			soon(), messaging.Unknown, 1, // the other one
		},
		"lookups are not found": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultDropUnread(), 1)
				srv.Inject(messagingtest.FaultStatus(http.StatusNotFound, 0), 1000)
			},
			soon(), messaging.Unknown, 0,
		},
		"lookups are forbidden": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultDropUnread(), 1)
				srv.Inject(messagingtest.FaultStatus(http.StatusForbidden, 0), 1000)
			},
			soon(), messaging.Unknown, 0,
		},
		"lookups fail at first": {
			func(srv *messagingtest.Server) {
				srv.Inject(messagingtest.FaultAcceptThenDrop(), 1)
				srv.Inject(messagingtest.FaultStatus(http.StatusForbidden, 0), 2)
			},
			messaging.WithSettle(messaging.SettlePolicy{Window: 20 * time.Second, Interval: 10 * time.Millisecond}),
			messaging.Accepted, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := messagingtest.NewServer(t)
			tt.prepare(srv)
			client := clientOf(t, srv, tt.settle)
			receipt, err := client.SMS.SendOnce(t.Context(), one)
			assert.Equal(t, tt.verdict, messaging.VerdictOf(err), "%v", err)
			sent := srv.Sent()
			assert.Len(t, sent, tt.messages)
			if err == nil {
				assert.Equal(t, one.ReferenceID, receipt.ReferenceID)
				assert.Equal(t, sent[0].ID, receipt.ID)
				return
			}
			assert.Equal(t, messaging.Receipt{}, receipt)
			var e *messaging.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "sms.send", e.Operation, "the error is the send's")
			assert.Equal(t, one.ReferenceID, e.ReferenceID)
			assert.Equal(t, tt.verdict == messaging.Unknown, errors.Is(err, messaging.ErrOutcomeUnknown))
		})
	}
}

func TestSendOnceGivesAReferenceID(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := clientOf(t, srv, soon())
	m := one
	m.ReferenceID = ""
	first, err := client.SMS.SendOnce(t.Context(), m)
	require.NoError(t, err)
	assert.Len(t, first.ReferenceID, 26)
	second, err := client.SMS.SendOnce(t.Context(), m)
	require.NoError(t, err)
	assert.NotEqual(t, first.ReferenceID, second.ReferenceID)
	assert.Equal(t, first.ReferenceID, srv.Sent()[0].ReferenceID)
	assert.Empty(t, m.ReferenceID)

	srv.Inject(messagingtest.FaultDropUnread(), 1)
	_, err = client.SMS.SendOnce(t.Context(), m)
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Len(t, e.ReferenceID, 26)
}

func TestSendOnceDoesNotLookUpAnInvalidMessage(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	_, err := clientOf(t, srv, soon()).SMS.SendOnce(t.Context(), sms.Message{})
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	assert.Zero(t, srv.Requests())
}

// posts is a service that handles each POST with send and lists nothing.
func posts(send func(*http.Request) (*http.Response, error)) roundTripper {
	return func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodGet {
			return respond(r, http.StatusOK, `{"hasNext":false,"data":[]}`), nil
		}
		return send(r)
	}
}

func TestSendOnceDefaultPolicy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		sends := 0
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet {
				asked = append(asked, time.Since(start))
				return respond(r, http.StatusOK, `{"hasNext":false,"data":[]}`), nil
			}
			sends++
			return respond(r, http.StatusInternalServerError, ""), nil
		}).option())
		require.NoError(t, err)
		_, err = client.SMS.SendOnce(t.Context(), one)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
		var want []time.Duration
		for at := time.Duration(0); at <= 30*time.Second; at += 2 * time.Second {
			want = append(want, at)
		}
		assert.Equal(t, want, asked)
		assert.Equal(t, 1, sends, "nothing is sent again unasked")
	})
}

func TestSendOnceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sends := 0
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), posts(func(r *http.Request) (*http.Response, error) {
			sends++
			return respond(r, http.StatusBadGateway, ""), nil
		}).option(), messaging.WithSettle(messaging.SettlePolicy{}))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		start := time.Now()
		_, err = client.SMS.SendOnce(ctx, one)
		var e *messaging.Error
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, messaging.ErrOutcomeUnknown)
		assert.Equal(t, http.StatusBadGateway, e.StatusCode)
		assert.Equal(t, 1, sends)
		assert.Equal(t, 7*time.Second, time.Since(start))
	})
}

// copies yields n messages that differ in their reference IDs.
func copies(n int) iter.Seq[sms.Message] {
	return func(yield func(sms.Message) bool) {
		for i := range n {
			m := one
			m.ReferenceID = fmt.Sprint("r-", i)
			if !yield(m) {
				return
			}
		}
	}
}

func TestSendAllSharesTheRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var sent []time.Duration
		start := time.Now()
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithRateLimit(100, 2), roundTripper(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, time.Since(start))
			return respond(r, http.StatusOK, accepted), nil
		}).option())
		require.NoError(t, err)
		for out := range client.SMS.SendAll(t.Context(), copies(52), 16) {
			require.NoError(t, out.Err)
		}
		require.Len(t, sent, 52)
		assert.InDelta(t, 500*time.Millisecond, time.Since(start), float64(time.Millisecond))
		for i, at := range sent {
			assert.GreaterOrEqual(t, at+time.Millisecond, time.Duration(max(0, i-1))*10*time.Millisecond, "the request %d", i)
		}
	})
}

func TestSendAllAccountsForEveryMessageAfterCancel(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		t.Run(channel.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
					select {
					case <-r.Context().Done():
						return nil, r.Context().Err()
					case <-time.After(time.Second):
						return respond(r, http.StatusOK, accepted), nil
					}
				}).option())
				require.NoError(t, err)
				verdicts := map[messaging.Verdict]int{}
				taken, outcomes := 0, 0
				time.AfterFunc(2500*time.Millisecond, cancel)
				for out := range channel.sendAll(ctx, client, each(references(1000), func(reference string) string {
					taken++
					return reference
				}), 8) {
					outcomes++
					verdict := messaging.VerdictOf(out.err)
					verdicts[verdict]++
					if verdict == messaging.Accepted {
						continue
					}
					require.ErrorIs(t, out.err, context.Canceled)
					assert.Equal(t, verdict == messaging.NotSent, errors.Is(out.err, messaging.ErrNotSent))
				}
				assert.Equal(t, taken, outcomes)
				assert.Equal(t, map[messaging.Verdict]int{messaging.Accepted: 16, messaging.Unknown: 8, messaging.NotSent: 1}, verdicts)
			})
		})
	}
}

func TestSendAllRejectsBadArguments(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	for _, channel := range channels {
		outcomes := slices.Collect(channel.sendAll(noContext, client, nil, 0))
		require.Len(t, outcomes, 1)
		assert.Equal(t, -1, outcomes[0].index)
		var v *messaging.ValidationError
		require.ErrorAs(t, outcomes[0].err, &v)
		assert.Equal(t, channel.operation(), v.Operation)
		assert.Len(t, v.Problems, 3)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(outcomes[0].err))
	}
	assert.Zero(t, mock.GetTotalCallCount())
}

func TestSendAllYieldsInvalidMessages(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	wrong := one
	wrong.To = "nobody"
	for out := range clientOf(t, srv, soon()).SMS.SendAll(t.Context(), func(yield func(sms.Message) bool) {
		_ = yield(one) && yield(wrong) && yield(one)
	}, 2) {
		if out.Index == 1 {
			require.ErrorIs(t, out.Err, messaging.ErrInvalid)
			continue
		}
		require.NoError(t, out.Err)
	}
	assert.Len(t, srv.Sent(), 2)
}

func TestSettleErrorsNameSettle(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token), soon())
	require.NoError(t, err)
	_, err = client.SMS.Settle(t.Context(), sms.Message{To: "+639171234567", ReferenceID: "order-17"}, time.Now())
	require.ErrorIs(t, err, messaging.ErrNotListed)
	require.ErrorIs(t, err, messaging.ErrNotFound)
	require.EqualError(t, err, "messaging: Settle: sms.send has an unknown outcome: no message with this reference ID is listed")
	_, err = client.SMS.Find(t.Context(), "order-17")
	require.EqualError(t, err, "messaging: sms.list failed: no message with this reference ID is listed", "and not listed and not found")
	srv.Inject(messagingtest.FaultStatus(http.StatusForbidden, 0), 10)
	_, err = client.SMS.Settle(t.Context(), sms.Message{To: "+639171234567", ReferenceID: "order-17"}, time.Now())
	require.ErrorContains(t, err, "messaging: Settle: sms.send has an unknown outcome: HTTP 403")
	_, err = client.SMS.Settle(t.Context(), sms.Message{To: "+639171234567"}, time.Now())
	require.EqualError(t, err, "messaging: Settle: sms.send has an unknown outcome: it cannot be looked up: ReferenceID: required, but absent")
}

func TestSettleThatCannotLookUpLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	// The default contract has no place for a key pair in a request without a body.
	withKey, err := messaging.NewClient(srv.URL, messaging.WithAPIKey("key", "secret-of-the-key"))
	require.NoError(t, err)
	withoutReference, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token), overlay(t, `{"sms.list": {"params": {"reference": ""}}}`))
	require.NoError(t, err)
	message := sms.Message{To: "+639171234567", ReferenceID: "order-17"}
	for name, settle := range map[string]func() error{
		"no reference ID":         func() error { return settleErr(withKey, sms.Message{To: message.To}, time.Now()) },
		"no number":               func() error { return settleErr(withKey, sms.Message{ReferenceID: "order-17"}, time.Now()) },
		"no time":                 func() error { return settleErr(withKey, message, time.Time{}) },
		"no place for a key":      func() error { return settleErr(withKey, message, time.Now()) },
		"no reference to list by": func() error { return settleErr(withoutReference, message, time.Now()) },
	} {
		err := settle()
		require.ErrorIs(t, err, messaging.ErrInvalid, name)
		require.NotErrorIs(t, err, messaging.ErrNotSent, name)
		require.ErrorContains(t, err, "it cannot be looked up: ", name)
		assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err), name)
		_, isRetryable := messaging.Retryable(err)
		assert.False(t, isRetryable, name)
	}
	assert.Zero(t, srv.Requests())
}

func settleErr(client *messaging.Client, m sms.Message, since time.Time) error {
	_, err := client.SMS.Settle(context.Background(), m, since)
	return err
}

func TestSettleSaysWhichRowCannotBeRead(t *testing.T) {
	t.Parallel()
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		return respond(r, http.StatusOK, `{"hasNext":false,"data":[{"id":"m-1","referenceId":{"a":1}}]}`), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), messaging.WithSettle(messaging.SettlePolicy{Window: time.Second}))
	require.NoError(t, err)
	_, err = client.SMS.Settle(t.Context(), sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "r-1"}, time.Now().Add(-time.Hour))
	require.ErrorIs(t, err, messaging.ErrUnreadableRow)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	require.ErrorContains(t, err, "the lookup failed, row 1 of page 1 (ID m-1) cannot be read: ReferenceID is neither a text nor a number (referenceId)")
}

func TestVerdictOfARow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		row     string
		verdict messaging.Verdict
	}{
		"no status":                 {`{"id":"m-1"}`, messaging.Accepted},
		"a status of a success":     {`{"id":"m-1","sendStatus":"accepted","dlrStatus":"delivered"}`, messaging.Accepted},
		"an unknown status":         {`{"id":"m-1","sendStatus":"limbo","dlrStatus":"limbo"}`, messaging.Accepted},
		"a delivery that failed":    {`{"id":"m-1","dlrStatus":"failed"}`, messaging.Accepted},
		"a refused status":          {`{"id":"m-1","sendStatus":"rejected"}`, messaging.Refused},
		"a word of the contract":    {`{"id":"m-1","sendStatus":"NO_CREDIT"}`, messaging.Refused},
		"an error of a known class": {`{"id":"m-1","code":"200101"}`, messaging.Unknown},
		"an error without a code":   {`{"id":"m-1","error":"no route"}`, messaging.Unknown},
		"an error of unknown class": {`{"id":"m-1","code":"E-17"}`, messaging.Accepted},
		"an error with such a code": {`{"id":"m-1","error":{"code":"E102","message":"Number blocked"}}`, messaging.Unknown},
		"an error with a message":   {`{"id":"m-1","error":{"message":"Number blocked"}}`, messaging.Unknown},
		"such a code, and errors":   {`{"id":"m-1","code":"17","errors":[{"text":"no credit"}]}`, messaging.Unknown},
		"such a code, and an error": {`{"id":"m-1","code":"17","error":"no credit"}`, messaging.Unknown},
		"such a code, and no error": {`{"id":"m-1","code":"17","error":{},"errors":[]}`, messaging.Accepted},
		"such an error, delivered":  {`{"id":"m-1","dlrStatus":"delivered","error":{"code":"E102"}}`, messaging.Accepted},
		"an error code":             {`{"id":"m-1","errorCode":"200101"}`, messaging.Unknown},
		"another name of one":       {`{"id":"m-1","error_code":30003}`, messaging.Unknown},
		"a list of errors":          {`{"id":"m-1","errors":[{"code":"200101"}]}`, messaging.Unknown},
		"a sentence of an error":    {`{"id":"m-1","errorMessage":"no credit"}`, messaging.Unknown},
		"a false success":           {`{"id":"m-1","success":false}`, messaging.Unknown},
		"no error":                  {`{"id":"m-1","errorCode":0,"errors":[],"errorMessage":null,"success":true}`, messaging.Accepted},
		"an error after delivery":   {`{"id":"m-1","dlrStatus":"delivered","errorCode":"200101"}`, messaging.Accepted},
		"a word for no error":       {`{"id":"m-1","sendStatus":"limbo","error":{"code":"NO_ERROR","message":"No error"}}`, messaging.Accepted},
		"the same, in another form": {`{"id":"m-1","sendStatus":"limbo","error":"NoError"}`, messaging.Accepted},
		"an error with no":          {`{"id":"m-1","error":{"code":"NO_ERROR","message":"no credit"}}`, messaging.Unknown},
		"refused, with a reason":    {`{"id":"m-1","sendStatus":"rejected","reason":"no credit"}`, messaging.Refused},
		"refused, with a code":      {`{"id":"m-1","sendStatus":"rejected","code":"200101"}`, messaging.Refused},
		"refused as a duplicate":    {`{"id":"m-1","sendStatus":"rejected","code":"200206"}`, messaging.Unknown},
		"refused, and it failed":    {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"failed"}`, messaging.Refused},
		"refused, and it expired":   {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"expired"}`, messaging.Refused},
		"refused twice over":        {`{"id":"m-1","sendStatus":"no_credit","dlrStatus":"rejected","code":"200101"}`, messaging.Refused},
		"refused, but it went out":  {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"sent"}`, messaging.Accepted},
		"refused, but delivered":    {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"delivered"}`, messaging.Accepted},
		"refused, but it was read":  {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"read"}`, messaging.Accepted},
		"a duplicate that failed":   {`{"id":"m-1","sendStatus":"NO_CREDIT","dlrStatus":"failed","code":"200206"}`, messaging.Unknown},
		"one status for both":       {`{"id":"m-1","sendStatus":"failed","dlrStatus":"failed"}`, messaging.Accepted},
		"a failure with a code":     {`{"id":"m-1","dlrStatus":"failed","errorCode":"200206"}`, messaging.Accepted},
		"an unreadable status":      {`{"id":"m-1","dlrStatus":["failed"]}`, messaging.Unknown},
		"an unreadable number":      {`{"id":"m-1","messageParts":"two"}`, messaging.Accepted},
		"a member that comes twice": {`{"id":"m-1","sendStatus":"1","sendStatus":"rejected"}`, messaging.Unknown},
		"an empty row":              {`{}`, messaging.Unknown},
		"a row that is no object":   {`7`, messaging.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				return respond(r, http.StatusOK, `{"hasNext":false,"data":[`+tt.row+`]}`), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
				overlay(t, `{"sms.send":{"refused":["NO_CREDIT"]}}`))
			require.NoError(t, err)
			rows := 0
			for page, err := range client.SMS.Pages(t.Context(), sms.ListOptions{}) {
				assert.True(t, err == nil || errors.Is(err, messaging.ErrUnreadableRow), "%v", err)
				for _, tx := range page.Transactions {
					assert.Equal(t, tt.verdict, client.SMS.Verdict(tx))
					rows++
				}
			}
			assert.Equal(t, 1, rows)
		})
	}
}

func TestVerdictOfATransactionOfTheCaller(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"))
	require.NoError(t, err)
	assert.Equal(t, messaging.Unknown, client.SMS.Verdict(sms.Transaction{}))
	assert.Equal(t, messaging.Accepted, client.SMS.Verdict(sms.Transaction{ID: "m-1"}))
	assert.Equal(t, messaging.Refused, client.SMS.Verdict(sms.Transaction{ID: "m-1", SendStatus: "failed"}))
	assert.Equal(t, messaging.Unknown, client.SMS.Verdict(sms.Transaction{ID: "m-1", ReadError: errors.New("of the caller")}))
}
