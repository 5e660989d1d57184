package messaging_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
)

func platformError(code string) string {
	return fmt.Sprintf(`{"error":{"message":"(#%s) The platform says no","code":%s,"fbtrace_id":"A1"}}`, code, code)
}

func chatMessage(to string) chatapp2.Message {
	return chatapp2.Message{To: to, Content: chatapp2.Text{Body: "Hi"}, ReferenceID: "order-17"}
}

func TestPlatformCodes(t *testing.T) {
	for _, tc := range []struct {
		codes  []string
		status int
		class  error
		after  time.Duration // 0 if it is not retryable
		goesOn bool          // FirstAccepted tries another way
		text   string
	}{
		{[]string{"4", "80007", "130429", "131048"}, 400, messaging.ErrRateLimited, time.Second, true, "rate limited"},
		{[]string{"131056"}, 400, messaging.ErrRateLimited, 6 * time.Second, true, "rate limited"},
		{[]string{"190"}, 401, messaging.ErrUnauthorized, 0, true, "unauthorized"},
		{[]string{"368", "131031"}, 403, messaging.ErrUnauthorized, 0, true, "unauthorized"},
		{[]string{"131042"}, 400, messaging.ErrInsufficientBalance, 0, true, "insufficient balance"},
		{[]string{"131050"}, 400, messaging.ErrOptedOut, 0, false, "opted out"},
		{[]string{"131049", "130472"}, 400, nil, 24 * time.Hour, true, "not now"},
		{[]string{"131026"}, 400, messaging.ErrUnreachable, 0, true, "unreachable"},
		{[]string{"132000", "132001", "132015", "132069"}, 400, messaging.ErrInvalid, 0, true, "invalid"},
		{[]string{"131009", "13200", "1320000"}, 400, messaging.ErrInvalid, 0, true, "invalid"},
	} {
		for _, code := range tc.codes {
			t.Run(code, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					service := &troubled{status: tc.status, body: platformError(code)}
					client := service.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
					_, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
					assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
					if tc.class != nil {
						require.ErrorIs(t, err, tc.class)
					}
					after, retryable := messaging.Retryable(err)
					assert.Equal(t, tc.after > 0, retryable)
					assert.Equal(t, tc.after, after)
					assert.Contains(t, err.Error(), ", "+tc.text)
					called := false
					_, _ = messaging.FirstAccepted(t.Context(), func(context.Context) (messaging.Receipt, error) {
						return messaging.Receipt{}, err
					}, func(context.Context) (messaging.Receipt, error) {
						called = true
						return messaging.Receipt{}, nil
					})
					assert.Equal(t, tc.goesOn, called)
				})
			})
		}
	}
}

// A contract that was learned from SMS has its codes elsewhere, and no class for a closed window.
func TestPlatformCodesUnderAnotherContract(t *testing.T) {
	names, err := contract.Parse([]byte(`{"errors": {"code": ["fault.num"], "message": ["fault.reason"],
		"classes": {"invalid": ["12"], "windowClosed": []}}}`))
	require.NoError(t, err)
	for code, class := range map[string]error{
		"131050": messaging.ErrOptedOut,
		"131026": messaging.ErrUnreachable,
		"131047": messaging.ErrWindowClosed,
		"131056": messaging.ErrRateLimited,
	} {
		for _, status := range []int{http.StatusBadRequest, http.StatusOK} {
			t.Run(fmt.Sprint(code, " ", status), func(t *testing.T) {
				service := &troubled{status: status, body: platformError(code)}
				client := service.client(t, messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
				_, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
				assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
				require.ErrorIs(t, err, class)
			})
		}
	}
}

// A code of the platform in a success is a refusal, unless the response names a message. Then only a status can refuse it.
func TestPlatformCodeInASuccess(t *testing.T) {
	service := &troubled{status: 200, body: platformError("131026")}
	_, err := service.client(t).ChatApp2.Send(t.Context(), chatMessage(hello.To))
	require.ErrorIs(t, err, messaging.ErrUnreachable)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
	service.body = `{"id":"m1","code":131026}`
	_, err = service.client(t).ChatApp2.Send(t.Context(), chatMessage(hello.To))
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))

	names, err := contract.Parse([]byte(`{"chatapp2.send": {"refused": ["failed"]}}`))
	require.NoError(t, err)
	service.body = `{"id":"m1","status":"failed","code":131026}`
	_, err = service.client(t, messaging.WithContract(names)).ChatApp2.Send(t.Context(), chatMessage(hello.To))
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err), "the contract says that the status refuses the message")
	assert.True(t, messaging.MayHaveBeenSent(err))
}

// A short code outside of the platform's own form may be a code of the service with any meaning, such as "pending".
func TestShortPlatformCodeOutsideOfItsForm(t *testing.T) {
	for _, code := range []string{"4", "190", "368"} {
		t.Run(code, func(t *testing.T) {
			service := &troubled{status: 200, body: `{"code":` + code + `,"message":"pending"}`}
			_, err := service.client(t).ChatApp2.Send(t.Context(), chatMessage(hello.To))
			assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
			_, retryable := messaging.Retryable(err)
			assert.False(t, retryable)

			service.status = 400
			_, err = service.client(t).ChatApp2.Send(t.Context(), chatMessage(hello.To))
			require.ErrorIs(t, err, messaging.ErrInvalid)
			assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))

			service.body = platformError(code)
			service.status = 200
			_, err = service.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})).ChatApp2.Send(t.Context(), chatMessage(hello.To))
			assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
		})
	}
}

// The codes of other channels are of their services, and what the contract says goes first.
func TestPlatformCodesAreOfChatApp2Alone(t *testing.T) {
	service := &troubled{status: 400, body: platformError("131056")}
	client := service.client(t)
	_, err := client.SMS.Send(t.Context(), hello)
	require.ErrorIs(t, err, messaging.ErrInvalid)
	_, err = client.ChatApp1.Send(t.Context(), chatapp1.New("channel-1", hello.To).Text("Hi"))
	require.ErrorIs(t, err, messaging.ErrInvalid)
	names, err := contract.Parse([]byte(`{"errors":{"classes":{"duplicate":["131056"]}}}`))
	require.NoError(t, err)
	_, err = service.client(t, messaging.WithContract(names)).ChatApp2.Send(t.Context(), chatMessage(hello.To))
	require.ErrorIs(t, err, messaging.ErrDuplicate)
	assert.NotErrorIs(t, err, messaging.ErrRateLimited)
}

func TestPlatformRateIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
			if requests++; requests == 1 {
				return respond(r, http.StatusBadRequest, platformError("130429")), nil
			}
			return respond(r, http.StatusOK, `{"id":"m1"}`), nil
		}).option())
		require.NoError(t, err)
		receipt, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
		require.NoError(t, err)
		assert.Equal(t, 2, receipt.Attempts)
	})
}

// A recipient who gets too much holds back no other message.
func TestPlatformRateOfRecipientCountsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &troubled{status: 400, body: platformError("131056")}
		client := service.client(t)
		for range 20 {
			began := time.Now()
			_, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
			require.ErrorIs(t, err, messaging.ErrRateLimited)
			assert.Zero(t, time.Since(began), "nothing waits")
		}
		assert.Equal(t, 20, service.requests)
		assert.False(t, client.Breaker(messaging.ChannelChatApp2).Open)
		service.retryAfter = "30"
		_, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
		after, _ := messaging.Retryable(err)
		assert.Equal(t, 30*time.Second, after, "what the service asked for")
	})
}

// A campaign of an account that cannot pay stops, and does not burn.
func TestPlatformPaymentStopsACampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const concurrency = 8
		var requests atomic.Int64
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			requests.Add(1)
			time.Sleep(100 * time.Millisecond)
			return respond(r, http.StatusBadRequest, platformError("131042")), nil
		}).option())
		require.NoError(t, err)
		messages := slices.Repeat([]chatapp2.Message{chatMessage(hello.To)}, 1000)
		for i := range messages {
			messages[i].To = fmt.Sprintf("+6391700%05d", i)
		}
		began := time.Now()
		for out := range client.ChatApp2.SendAll(t.Context(), slices.Values(messages), concurrency) {
			require.ErrorIs(t, out.Err, messaging.ErrInsufficientBalance)
		}
		probes := int64(time.Since(began)/time.Second) + 1
		assert.LessOrEqual(t, requests.Load(), 16+concurrency+probes)
		assert.Less(t, requests.Load(), int64(100))
	})
}

// Some messages that the platform does not take now hold back none of a SendAll.
func TestPlatformNotNowIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"), roundTripper(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), hello.To) {
				return respond(r, http.StatusBadRequest, platformError("131049")), nil
			}
			return respond(r, http.StatusOK, `{"id":"m1"}`), nil
		}).option())
		require.NoError(t, err)
		began, refused := time.Now(), 0
		messages := slices.Repeat([]chatapp2.Message{chatMessage(hello.To), chatMessage("+639170000000")}, 20)
		for out := range client.ChatApp2.SendAll(t.Context(), slices.Values(messages), 4) {
			if after, ok := messaging.Retryable(out.Err); ok {
				assert.Equal(t, 24*time.Hour, after)
				refused++
			} else {
				require.NoError(t, out.Err)
			}
		}
		assert.Equal(t, 20, refused)
		assert.Less(t, time.Since(began), time.Minute)
	})
}

func TestReceiptHasTheServicesStatus(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"id":"wamid.1","message_status":"accepted"}]}`:                    "accepted",
		`{"messages":[{"id":"wamid.1","message_status":"held_for_quality_assessment"}]}`: "held_for_quality_assessment",
		`{"messages":[{"id":"wamid.1","message_status":"paused"}]}`:                      "paused",
		`{"messages":[{"id":"wamid.1"}]}`:                                                "",
	} {
		receipt, err := (&troubled{status: 200, body: body}).client(t).ChatApp2.Send(t.Context(), chatMessage(hello.To))
		require.NoError(t, err, body)
		assert.Equal(t, want, receipt.Status)
		assert.Equal(t, "wamid.1", receipt.ID)
	}
}

// A gateway's Retry-After does not shorten the wait of the platform.
func TestPlatformWaitIsNotShortened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for code, want := range map[string]time.Duration{"131049": 24 * time.Hour, "131056": 6 * time.Second} {
			service := &troubled{status: 400, retryAfter: "1", body: platformError(code)}
			client := service.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			_, err := client.ChatApp2.Send(t.Context(), chatMessage(hello.To))
			wait, retryable := messaging.Retryable(err)
			assert.True(t, retryable)
			assert.Equal(t, want, wait, code)
		}
	})
}
