package main

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestReplyCountsOnce(t *testing.T) {
	for name, database := range databases(t) {
		t.Run(name, func(t *testing.T) {
			client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"))
			require.NoError(t, err)
			shop, err := open(t.Context(), database(t), client, options())
			require.NoError(t, err)
			defer shop.close()
			handler, err := shop.replies(t.Context())
			require.NoError(t, err)
			for _, text := range []string{"yes", "yes", "no", "yes"} {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, messagingtest.SMSRequest("/hooks/sms", messagingtest.InboundSMS{ID: "m-" + text + "-1", From: "+639171234567", Text: text}))
				assert.Equal(t, 200, w.Code)
			}
			n, err := shop.countReplies(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 2, n)
		})
	}
}
