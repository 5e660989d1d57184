package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// safeBuffer is a buffer for two goroutines.
type safeBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// listening lets the doctor listen while call is called with its address, until it has received some callbacks.
func listening(t *testing.T, callbacks int, call func(address string)) (report Report, shown string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var out, progress safeBuffer
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{"-listen", "127.0.0.1:0", "-json"}, cli.Console{
			In: strings.NewReader(""), Out: &out, Err: &progress, Getenv: func(string) string { return "" },
		})
	}()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	require.Eventually(t, func() bool { return address.MatchString(progress.String()) }, 10*time.Second, 10*time.Millisecond)
	call(address.FindString(progress.String()))
	require.Eventually(t, func() bool { return strings.Count(progress.String(), "received") >= callbacks }, 10*time.Second, 10*time.Millisecond)
	cancel()
	status := <-done
	require.NoError(t, json.Unmarshal([]byte(out.String()), &report), out.String())
	require.Equal(t, status, report.Status)
	return report, out.String() + progress.String()
}

func TestListenMatchesParameters(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	report, shown := listening(t, 2, func(address string) {
		for _, reply := range srv.Receive(t.Context(), address+"/hooks?key=secret-token-1", messagingtest.InboundSMS{
			ID: "in-1", From: "639171230045", To: "2929", Text: seedText, ReceivedAt: time.Now(),
		}) {
			assert.NoError(t, reply.Err)
			assert.Equal(t, http.StatusOK, reply.StatusCode)
			assert.Empty(t, reply.Body)
		}
		response, err := http.Get(address + "/delivery?status=DELIVRD&id=msg-a1")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	})
	assert.Equal(t, statusOK, report.Status, "%+v", report)
	r := newRig(t, "", "")
	assert.Equal(t, "from: digits(12); the only whole number", r.check(report, "callback 1: webhook.sms", "from").Detail)
	assert.Equal(t, "key: word(14); no concept claims it", r.check(report, "callback 1: webhook.sms", "(unclaimed)").Detail)
	assert.Equal(t, "status: letters(7); its word is that of a delivery status", r.check(report, "callback 2: webhook.delivery", "status").Detail)
	assert.Empty(t, private.FindAllString(shown, -1))
}

func TestListenProposesOverlay(t *testing.T) {
	t.Parallel()
	names := parseContract(t, `{"webhook.sms": {"params": {"from": ["data.from_phone"], "text": ["data.sms_text"], "id": ["data.message_uuid"]}, "events": ["results"]}}`)
	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
	report, _ := listening(t, 1, func(address string) {
		srv.Receive(t.Context(), address+"/sms", messagingtest.Callbacks{
			messagingtest.InboundSMS{ID: "in-1", From: "639171230045", Text: seedText}, messagingtest.InboundSMS{ID: "in-2", From: "639171230046", Text: seedText},
		}, messagingtest.InOneCall())
	})
	assert.Equal(t, statusDiffers, report.Status)
	found, err := contract.Parse(report.Overlay)
	require.NoError(t, err)
	table := found.Table().WebhookSMS
	assert.Equal(t, []string{"results"}, table.Events)
	for concept, want := range map[string]string{"from": "data.from_phone", "text": "data.sms_text", "id": "data.message_uuid"} {
		assert.Equal(t, []string{want}, table.Params[concept], concept)
	}
}

// TestListenProposesEventsInParameter receives forms in which a parameter holds the events as JSON, one list of them, or several in each entry.
func TestListenProposesEventsInParameter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data   string
		events string
		params map[string]string
	}{
		"a list": {
			`[{"message_id":"m-1","state":"DELIVRD","phone_number":"639171230045"},{"message_id":"m-2","state":"UNDELIV","phone_number":"639171230046"}]`,
			"data",
			map[string]string{"id": "message_id", "status": "state", "to": "phone_number"},
		},
		"several in each entry": {
			`[{"message_id":"m-1","sms_sender":"ACME","report":[{"state":"DELIVRD","phone_number":"639171230045"},{"state":"UNDELIV","phone_number":"639171230046"}]},
				{"message_id":"m-2","sms_sender":"ACME","report":[{"state":"DELIVRD","phone_number":"639171230047"}]}]`,
			"data.*.report",
			map[string]string{"from": "data.*.sms_sender", "status": "state", "to": "phone_number"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, shown := listening(t, 1, func(address string) {
				response, err := http.PostForm(address+"/delivery", url.Values{"data": {tt.data}, "account": {"7"}})
				require.NoError(t, err)
				require.NoError(t, response.Body.Close())
			})
			found, err := contract.Parse(report.Overlay)
			require.NoError(t, err, shown)
			w := found.Table().WebhookDelivery
			assert.Equal(t, []string{tt.events}, w.Events, shown)
			for concept, want := range tt.params {
				assert.Contains(t, w.Params[concept], want, "%s: %s", concept, shown)
			}
		})
	}
}

// TestListenTellsCallbacksApart receives callbacks whose path says nothing, and whose parameters have foreign names.
func TestListenTellsCallbacksApart(t *testing.T) {
	t.Parallel()
	report, _ := listening(t, 4, func(address string) {
		for _, query := range []string{"senderNumber=639171230045&msg_text=hello+you&smsId=77", "dlr=DELIVRD&msgid=1&zorp=3", "zorp=1", "source_addr=639171230045&msg_text=hello&smsId=78"} {
			response, err := http.Get(address + "/hook?" + query)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
	})
	found, err := contract.Parse(report.Overlay)
	require.NoError(t, err)
	assert.Equal(t, []string{"source_addr", "senderNumber"}, found.Table().WebhookSMS.Params["from"], "both")
	assert.Equal(t, []string{"smsId"}, found.Table().WebhookSMS.Params["id"])
	assert.Equal(t, []string{"dlr"}, found.Table().WebhookDelivery.Params["status"])
	assert.Equal(t, []string{"msgid"}, found.Table().WebhookDelivery.Params["id"])
	assert.Equal(t, Unknown, newRig(t, "", "").check(report, "callback 3", "kind").Result)
}

func TestListenSurvivesHostileCallbacks(t *testing.T) {
	t.Parallel()
	bodies := []string{
		strings.Repeat(`[`, 100_000), `{"a":` + strings.Repeat(`{"a":`, 30_000), "{}", "[]", "null", `"x"`, "a=b;c&%zz", strings.Repeat("a=1&", 200_000), strings.Repeat("x", 2<<20),
		`{"results": [1, null, {"from": {"a": []}}]}`, `[[[]]]`,
	}
	report, _ := listening(t, len(bodies), func(address string) {
		for _, body := range bodies {
			response, err := http.Post(address+"/sms", "application/json", strings.NewReader(body))
			if err == nil { // the connection ends early where the body is too long
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}
	})
	assert.NotEmpty(t, report.Checks)
}

func TestListenEndsAfterItsTime(t *testing.T) {
	t.Parallel()
	status, out, _ := newRig(t, "", "").run("-listen", "127.0.0.1:0", "-for", "50ms")
	assert.Equal(t, statusUnknown, status)
	assert.Contains(t, out, "none")
}

func TestSendAsksFirst(t *testing.T) {
	t.Parallel()
	for answer, sends := range map[string]bool{"y\n": true, "yes": true, "n\n": false, "\n": false, "": false} {
		srv := messagingtest.NewServer(t)
		seedMessages(srv, 2)
		r := newRig(t, srv.URL, srv.Token)
		var out, progress safeBuffer
		status := execute(t.Context(), []string{"-rate", "1000", "-send", "+639170000001", "-from", "ACME"}, cli.Console{
			In: strings.NewReader(answer), InTerminal: true, Out: &out, Err: &progress, Getenv: func(name string) string { return r.env[name] },
		})
		assert.Contains(t, progress.String(), "two SMS go out", "before asking")
		if sends {
			assert.Len(t, srv.Sent(), 4, "%q", answer)
			assert.Equal(t, statusOK, status, "%q %s", answer, out.String())
			continue
		}
		assert.Len(t, srv.Sent(), 2, "%q", answer)
		assert.Equal(t, statusUnknown, status)
		assert.Contains(t, progress.String(), "nothing was sent")
	}
}

// TestListenKeepsConceptsApart receives names that the default contract knows in another spelling, or for another kind of callback.
func TestListenKeepsConceptsApart(t *testing.T) {
	t.Parallel()
	report, _ := listening(t, 2, func(address string) {
		for _, path := range []string{"/sms?Mobile=639171230045&Message=hello+you", "/delivery?status=DELIVRD&id=msg-a1&recipient=639171230045"} {
			response, err := http.Get(address + path)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
		}
	})
	found, err := contract.Parse(report.Overlay)
	require.NoError(t, err)
	params, reports := found.Table().WebhookSMS.Params, found.Table().WebhookDelivery.Params
	assert.Equal(t, "Mobile", params["from"][0])
	assert.NotContains(t, params["to"], "Mobile")
	assert.Equal(t, "Message", params["text"][0])
	assert.Equal(t, "recipient", reports["to"][0])
	r := newRig(t, "", "")
	assert.Equal(t, Note, r.check(report, "all callbacks: webhook.sms", "keyword").Result)
	assert.Contains(t, report.Summary.Works, "callbacks of webhook.sms")
}

// TestListenTellsNumbersApart receives callbacks with two numbers: ours is the same in all, and the user's differs, whatever the names say.
func TestListenTellsNumbersApart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path      string
		callbacks []string
		want      map[string]string
	}{
		"a short code and a number, in one": {"/sms", []string{"Sender=8011&Mobile=639171230045"}, map[string]string{"from": "Mobile"}},
		"a short code and numbers":          {"/sms", []string{"Sender=8011&Mobile=639171230045", "Sender=8011&Mobile=639171230046", "Sender=8011&Mobile=639171230047"}, map[string]string{"from": "Mobile", "to": "Sender"}},
		"two numbers, in one":               {"/sms", []string{"Sender=639170009999&Mobile=639171230045"}, map[string]string{}},
		"two numbers":                       {"/sms", []string{"Sender=639170009999&Mobile=639171230045", "Sender=639170009999&Mobile=639171230046"}, map[string]string{"from": "Mobile", "to": "Sender"}},
		"both differ":                       {"/sms", []string{"Sender=639170009999&Mobile=639171230045", "Sender=639170009998&Mobile=639171230046"}, map[string]string{}},
		"reports": {
			"/delivery",
			[]string{"status=DELIVRD&id=m-1&Source=639170009999&Phone=639171230045", "status=DELIVRD&id=m-2&Source=639170009999&Phone=639171230046"},
			map[string]string{"to": "Phone", "from": "Source"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, shown := listening(t, len(tt.callbacks), func(address string) {
				for _, query := range tt.callbacks {
					response, err := http.Get(address + tt.path + "?" + query)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
				}
			})
			if len(tt.callbacks) > 2 {
				assert.Contains(t, report.Summary.Works, "callbacks of webhook.sms", "the overlay so far contradicts no callback")
			}
			found := parseContract(t, string(report.Overlay)).Table()
			params, defaults := found.WebhookSMS.Params, contract.Default().Table().WebhookSMS.Params
			if tt.path == "/delivery" {
				params, defaults = found.WebhookDelivery.Params, contract.Default().Table().WebhookDelivery.Params
			}
			for _, concept := range []string{"from", "to"} {
				if want := tt.want[concept]; want != "" {
					assert.Equal(t, want, params[concept][0], shown)
				} else {
					assert.Equal(t, defaults[concept], params[concept], shown)
				}
			}
		})
	}
}

// TestListenProposesReferenceByItsValue has two members that could be a reference ID: only one that was listed or sent is proposed.
func TestListenProposesReferenceByItsValue(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"": "", "order-7": "Tag", "r1": "MsgRef"} {
		d := &doctor{
			table: contract.Default().Table(), overlay: overlay{}, report: &Report{}, sensitive: map[string]bool{}, sent: sentMessage{reference: sent},
			say: func(string, ...any) {},
		}
		c := callback{path: "/sms", params: object{"from": "639171230045", "message": "hello you", "MsgRef": "r1", "Tag": "order-7"}}
		d.examineCallback(1, c)
		reference := d.table.WebhookSMS.Params["reference"]
		if want == "" {
			assert.Equal(t, contract.Default().Table().WebhookSMS.Params["reference"], reference)
			assert.Contains(t, newRig(t, "", "").check(*d.report, "callback 1: webhook.sms", "reference").Detail, "MsgRef")
			continue
		}
		assert.Equal(t, want, reference[0], sent)
	}
}

// TestListenTakesStatusByItsWord has a report with two members that could be a status, of which only one has a word of a status.
func TestListenTakesStatusByItsWord(t *testing.T) {
	t.Parallel()
	report, shown := listening(t, 1, func(address string) {
		response, err := http.Get(address + "/delivery?id=m-1&state=NY&dlr=DELIVRD")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	})
	assert.Equal(t, "dlr", parseContract(t, string(report.Overlay)).Table().WebhookDelivery.Params["status"][0], shown)
}
