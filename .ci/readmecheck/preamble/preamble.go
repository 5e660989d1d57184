// Package readme is the fragments of the pages, below this. It declares what they leave to the reader.
package readme

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

var handlers []http.Handler // the handlers that fragments made, the latest last

// use takes the variables that a statement declares for the reader.
func use(values ...any) {
	for _, value := range values {
		if handler, ok := value.(http.Handler); ok {
			handlers = append(handlers, handler)
		}
	}
}

var (
	ctx                     context.Context
	t                       *testing.T
	err                     error
	url, token, key, secret string
	deliveryURL             string
	names                   contract.Contract
	client                  *messaging.Client
	message                 sms.Message
	messages                iter.Seq[sms.Message]
	yesterday, midnight     time.Time
	position                string
	done                    bool
	total                   int
	server                  *httptest.Server
	hooks                   *webhook.Receiver
	mux                     *http.ServeMux
	db                      *sql.DB
	tx                      *sql.Tx
	pool                    *pgxpool.Pool
	book                    *conversations.Book
	service                 *messagingtest.Server
	outbox                  *messagingriver.Outbox[*sql.Tx]
	queue, orders           *failsOnce
	messagesIn              func(verdict string) iter.Seq[sms.Message]
	settleVerdict           = saveVerdict
	respondAgain            = func(ctx context.Context, referenceID string) error { return nil }
	saveVerdict             = func(ctx context.Context, referenceID string, verdict messaging.Verdict) error { return nil }
	forgetDay, endDay       = func() error { return nil }, func() error { return nil }
	storePage               = func(page sms.Page, from string) error { return nil }
	save                    = func(id string) error { return nil }
	record                  = func(referenceID string, verdict messaging.Verdict, id string) {}
	keep                    = func(m sms.Message, err error) error { return nil }
	askAPerson              = func(referenceID string, err error) error { return nil }
)

// failsOnce is a database of the reader's that fails the first time.
type failsOnce struct {
	stored int
	failed map[string]bool
}

func (s *failsOnce) Put(_ context.Context, values ...string) error {
	if name := values[0]; !s.failed[name] {
		s.failed[name] = true
		return errors.New("the database cannot be reached")
	}
	s.stored++
	return nil
}

func (*failsOnce) Status(context.Context, string, string) (webhook.Status, error) {
	return webhook.StatusSent, nil
}

func (s *failsOnce) SetStatus(ctx context.Context, referenceID, _ string, _ webhook.Status) error {
	return s.Put(ctx, referenceID)
}
