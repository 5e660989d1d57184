package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
)

func TestWordsOfNames(t *testing.T) {
	t.Parallel()
	g := newGuesser(map[string][]string{"id": nil, "deliveryStatus": nil, "text": nil, "to": nil}, "", nil)
	for path, want := range map[string][]string{
		"messageId":              {"message", "id"},
		"message_id":             {"message", "id"},
		"MSG-ID":                 {"msg", "id"},
		"SMSText":                {"sms", "text"},
		"deliverystatus":         {"delivery", "status"},
		"v2DeliveryStatus":       {"v", "delivery", "status"},
		"data.0.smsID":           {"data", "sms", "id"},
		"recipients.0":           {"recipients"},
		"photo":                  {"photo"},
		"texts":                  {"text"},
		"onto.tomorrow.factotum": {"onto", "tomorrow", "factotum"},
	} {
		above, own := g.words(path)
		assert.Equal(t, want, append(above, own...), path)
	}
}

// TestGuessesInForeignAnswers has answers as services write them.
func TestGuessesInForeignAnswers(t *testing.T) {
	t.Parallel()
	record, response := contract.Default().Table().SMSList.Record, contract.Default().Table().SMSSend.Response
	for body, want := range map[string]struct {
		section map[string][]string
		guesses map[string]string
	}{
		`{"account_sid": "AC1", "sid": "SM1", "body": "Hi there", "num_segments": "1", "num_media": "0", "price_unit": "USD", "price": "-0.0075", "date_created":
			"Thu, 24 Aug 2023 05:01:45 +0000", "date_sent": "Thu, 24 Aug 2023 05:01:46 +0000", "date_updated": "Thu, 24 Aug 2023 05:01:47 +0000", "status": "sent",
			"error_code": null, "messaging_service_sid": "MG1", "api_version": "2010-04-01", "uri": "/x"}`: {record, map[string]string{
			"id": "sid", "text": "body", "parts": "num_segments", "price": "price", "currency": "price_unit", "created": "date_created", "sent": "date_sent", "deliveryStatus": "status",
		}},
		`{"bulkId": "b-1", "messageId": "m-1", "smsCount": 1, "mccMnc": "22801", "status": {"id": 5, "groupId": 3, "name": "DELIVERED"}, "error": {"id": 0, "name": "NO"},
			"doneAt": "2024-02-11T16:12:43.000+0000", "to": [{"phone_number": "+18665550001"}], "from": {"phone_number": "+18665550002", "carrier": "X"}}`: {record, map[string]string{
			"request": "bulkId", "id": "messageId", "parts": "smsCount", "operator": "mccMnc", "deliveryStatus": "status.name", "to": "to.0.phone_number", "from": "from.phone_number",
		}},
		`{"message-count": "1", "messages": [{"message-id": "a-b", "status": "0", "remaining-balance": "3.14", "message-price": "0.03", "client-ref": "r", "account-ref": "c"}]}`: {response, map[string]string{
			"parts": "message-count", "id": "messages.0.message-id", "status": "messages.0.status", "balance": "messages.0.remaining-balance", "cost": "messages.0.message-price", "reference": "messages.0.client-ref",
		}},
		// Alike, and so not sure; and of the wrong kind.
		`{"recipient": "639170000001", "destination": "639170000002", "created": "yesterday", "orderId": "7", "userId": "8", "price": "much", "text_color": "red", "sent_by": "Ana", "textLength": "9", "cost_center": "7", "replyTo": "639170000001", "country_prefix": "63", "from": {"country": "PH"}}`: {record, map[string]string{}},
	} {
		doc, err := parse([]byte(body))
		require.NoError(t, err)
		all, _ := columns([]document.Node{doc}, "")
		concepts := sortedConcepts(want.section)
		assert.Equal(t, want.guesses, newGuesser(want.section, rowContainers, all).guess(all, concepts), body)
	}
}
