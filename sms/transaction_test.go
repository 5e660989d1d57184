package sms

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// A field that one of them lacks would be lost where a row is handed out.
func TestATransactionHoldsWhatARowHolds(t *testing.T) {
	t.Parallel()
	fields := func(of reflect.Type) (all []string) {
		for field := range of.Fields() {
			all = append(all, field.Name+" "+field.Type.String())
		}
		return all
	}
	assert.Equal(t, fields(reflect.TypeFor[wire.Record]()), fields(reflect.TypeFor[Transaction]()))
}

func TestAPrintedTransactionShowsNothingOfItsPeople(t *testing.T) {
	t.Parallel()
	tx := Transaction{
		ID: "t-1", RequestID: "q-1", ReferenceID: "r-1", CategoryID: "c-1", From: "SENDER-PRIVATE", To: "+639171234567",
		Text: "text-PRIVATE", Parts: 2, Price: "0.50", CreatedAt: time.Date(2026, 10, 3, 14, 44, 23, 0, time.UTC),
		SendStatus: "1", DeliveryStatus: "7", Operator: "OP_1", Country: "PHL", Description: "sent",
		Extra: map[string]json.RawMessage{"name-PRIVATE": json.RawMessage(`"value-PRIVATE"`)},
	}
	type holder struct{ Transaction Transaction }
	var all []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{
			tx, &tx, holder{tx}, []Transaction{tx}, map[string]Transaction{"k": tx}, Page{Transactions: []Transaction{tx}},
		} {
			all = append(all, fmt.Sprintf(verb, value))
		}
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		log.Reset()
		slog.New(handler).Info("listed", "transaction", tx, "pointer", &tx, slog.Group("group", "transaction", tx))
		all = append(all, log.String())
	}
	for _, shown := range all {
		for _, secret := range []string{"PRIVATE", "639171234567"} {
			assert.NotContains(t, shown, secret)
		}
		assert.True(t, strings.Contains(shown, "t-1") || strings.Contains(shown, "sms.Page{Transactions: 1,"), "it is still told which it is: %s", shown)
	}
	const want = `sms.Transaction{ID: "t-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, Price: "0.50", CreatedAt: 2026-10-03T14:44:23Z, SentAt: never, SendStatus: "1", DeliveryStatus: "7", Operator: "OP_1", Country: "PHL", Extra: 1 fields}`
	require.Equal(t, want, fmt.Sprint(tx))
	assert.Equal(t, want, tx.LogValue().String())
}
