package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// addSeeds adds messages and returns their IDs.
func (r *rig) addSeeds(messages ...string) []string {
	r.t.Helper()
	var added struct{ IDs []string }
	r.api(http.MethodPost, "messages", `{"messages":[`+strings.Join(messages, ",")+`]}`, &added)
	require.Len(r.t, added.IDs, len(messages))
	return added.IDs
}

// TestSeedIsListed plays yesterday, after a reset: a program lists what it had sent then.
func TestSeedIsListed(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.api(http.MethodPost, "deliveries", `{"to":"`+ana+`","outcome":"unreachable"}`, nil)
	r.api(http.MethodPost, "reset", `{}`, nil)
	yesterday := time.Now().Add(-24 * time.Hour).UTC().Truncate(time.Second)
	at := `"to":"` + ana + `","at":"` + yesterday.Format(time.RFC3339) + `"`
	ids := r.addSeeds(
		`{"id":"m-1",`+at+`,"from":"ACME","text":"Hi","referenceID":"order-17","price":"0.35","currency":"EUR","operator":"OP_7","country":"PH",`+
			`"categoryID":"otp","sent":"`+yesterday.Add(time.Second).Format(time.RFC3339)+`"}`,
		`{`+at+`,"text":"Lost","state":"failed"}`,
		`{`+at+`,"text":"Refused","sendStatus":"rejected"}`,
	)
	assert.Equal(t, "m-1", ids[0])

	client := r.client()
	rows := map[string]sms.Transaction{}
	options := sms.ListOptions{CreatedAfter: yesterday.Add(-time.Minute), CreatedBefore: yesterday.Add(time.Minute)}
	for row, err := range client.SMS.List(t.Context(), options) {
		require.NoError(t, err)
		rows[row.ID] = row
	}
	require.Len(t, rows, 3)
	first := rows["m-1"]
	assert.Equal(t, []string{"ACME", "Hi", "order-17", "0.35", "EUR", "OP_7", "PH", "otp"}, []string{
		first.From, first.Text, first.ReferenceID, first.Price, first.Currency, first.Operator, first.Country, first.CategoryID,
	})
	assert.Equal(t, yesterday, first.CreatedAt.UTC())
	assert.Equal(t, yesterday.Add(time.Second), first.SentAt.UTC())
	assert.Equal(t, contract.StatusDelivered, first.Status, "the delivery of its recipient is for new messages")
	assert.Equal(t, contract.StatusFailed, rows[ids[1]].Status)
	assert.Equal(t, messaging.Refused, client.SMS.Verdict(rows[ids[2]]))
	assert.Empty(t, rows[ids[2]].DeliveryStatus, "nor is a refused message delivered")
	assert.Len(t, r.texts(""), 3, "the sandbox shows messages from before a reset")

	r.api(http.MethodPost, "deliveries", `{"message":"m-1","outcome":"failed"}`, nil)
	row, err := client.SMS.Find(t.Context(), "order-17")
	require.NoError(t, err)
	assert.Equal(t, contract.StatusFailed, row.Status)
}

// TestSeedIsShown: seeds are messages on the page and in the API.
func TestSeedIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	ids := r.addSeeds(
		`{"to":"`+ana+`","text":"Your code is 482913","price":"0.35"}`,
		`{"to":"`+ana+`","channel":"chatapp2","text":"Your parcel is here","state":"read"}`,
		`{"to":"`+ana+`","channel":"chatapp2","template":"order_ready"}`,
	)
	found := r.messages(len(ids))
	shown := slices.Clone(ids)
	for i, m := range found {
		shown[i] = m.ID
	}
	assert.Equal(t, ids, shown, "in this order")
	assert.Equal(t, "482913", found[0].Code)
	assert.Equal(t, "0.35", found[0].Cost)
	assert.Equal(t, []contract.Status{"delivered", "read"}, []contract.Status{found[1].States[0].State, found[1].States[1].State})
	assert.Equal(t, "template", found[2].Kind)
	page := r.page("?channel=chatapp2&to=" + url.QueryEscape(ana))
	contains(t, page, "Your parcel is here")
	contains(t, page, "Template · order_ready")
}

func TestSeedsAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	seeds := slices.Repeat([]string{`{"to":"` + ana + `","text":"Hi"}`}, 1000)
	for range maxMessages/len(seeds) + 1 {
		r.addSeeds(seeds...)
	}
	assert.Len(t, r.messages(maxMessages), maxMessages)
	assert.Len(t, r.service.Sent(), maxMessages, "the ledger drops what the sandbox drops")
}

func TestSeedsAreValidated(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	r.addSeeds(`{"id":"m-1","to":"` + ana + `"}`)
	for bad, want := range map[string]string{
		`{"text":"Hi"}`:                        "message 1: to is missing",
		`{"to":"` + ana + `","channel":"fax"}`: "message 1: channel must be one of",
		`{"to":"` + ana + `","state":"lost"}`:  "message 1: state must be",
		`{"to":"` + ana + `","at":"` + time.Now().Add(time.Hour).Format(time.RFC3339) + `"}`: "message 1: at must not be after the clock",
		`{"to":"` + ana + `","at":"yesterday"}`:                                              "message 1: at must be a time such as",
		`{"to":"` + ana + `","sent":"2999-01-01T00:00:00Z"}`:                                 "message 1: sent must not be after the clock",
		`{"to":"` + ana + `","price":"free"}`:                                                `message 1: the price is \"free\"`,
		`{"to":"` + ana + `","id":"m-1"}`:                                                    `message 1: the ID \"m-1\" is taken`,
		`{"to":"` + ana + `","id":"m-2"}`:                                                    `message 1: the ID \"m-2\" is taken`,
		`{"to":"` + ana + `","id":"` + strings.Repeat("m", maxName+1) + `"}`:                 "message 1: to and id must be",
		`{"to":"` + ana + `","color":"red"}`:                                                 "unknown field",
	} {
		status, text := r.do(http.MethodPost, Root+"messages", `{"messages":[{"id":"m-2","to":"`+ana+`"},`+bad+`]}`)
		assert.Equal(t, http.StatusBadRequest, status, bad)
		assert.Contains(t, text, want, bad)
	}
	for _, n := range []int{0, 1001} {
		seeds := strings.Join(slices.Repeat([]string{`{"to":"1"}`}, n), ",")
		status, text := r.do(http.MethodPost, Root+"messages", fmt.Sprintf(`{"messages":[%s]}`, seeds))
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Contains(t, text, "messages must have 1 to 1000 messages")
	}
	assert.Len(t, r.service.Sent(), 1, "all are entered, or none")
}
