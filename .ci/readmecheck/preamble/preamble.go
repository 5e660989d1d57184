// Package readme is compiled together with the fragments of README.md, and declares what they leave to the reader.
package readme

import (
	"context"
	"database/sql"
	"iter"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// handlers are the values of the fragments that serve HTTP, the latest last.
var handlers []http.Handler

// use takes each variable that a fragment declares for the reader.
func use(value any) {
	if handler, ok := value.(http.Handler); ok {
		handlers = append(handlers, handler)
	}
}

var (
	ctx        context.Context
	t          *testing.T
	err        error
	url, token string
	key        string
	names      contract.Contract
	client     *messaging.Client
	message    sms.Message
	messages   iter.Seq[sms.Message]
	yesterday  time.Time
	midnight   time.Time
	position   string
	count      int
	overlay    []byte
	body       []byte
	secret     string
	server     *httptest.Server
	hooks      *webhook.Receiver
	m          webhook.SMSMessage
	mux        *http.ServeMux
	db         *sql.DB
	book       *conversations.Book
	service    *messagingtest.Server
	orders     interface {
		SetStatus(ctx context.Context, referenceID, status string) error
	}
	queue interface {
		Put(ctx context.Context, values ...string) error
	}
)

var (
	save          func(id string) error
	record        func(referenceID string, verdict messaging.Verdict, id string)
	enqueueAgain  func(message sms.Message, after time.Duration) error
	askAPerson    func(referenceID string, err error) error
	tryLater      func(after time.Duration) error
	pauseCampaign func() error
)
