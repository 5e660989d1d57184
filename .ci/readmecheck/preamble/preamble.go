// Package readme is compiled together with the fragments of the pages, and declares what they leave to the reader.
package readme

import (
	"context"
	"database/sql"
	"iter"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
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
	err                     error
	t                       *testing.T
	url, token, key, secret string
	databaseURL             string
	names                   contract.Contract
	client                  *messaging.Client
	proxyURL                *neturl.URL
	message                 sms.Message
	messages                iter.Seq[sms.Message]
	yesterday, midnight     time.Time
	position                string
	count                   int
	server                  *httptest.Server
	hooks                   *webhook.Receiver
	mux                     *http.ServeMux
	db                      *sql.DB
	book                    *conversations.Book
	service                 *messagingtest.Server
	orders, queue           interface {
		Put(ctx context.Context, values ...string) error
		Status(ctx context.Context, referenceID string) (webhook.Status, error)
		SetStatus(ctx context.Context, referenceID string, status webhook.Status) error
	}
	save          func(id string) error
	record        func(referenceID string, verdict messaging.Verdict, id string)
	askAPerson    func(referenceID string, err error) error
	pauseCampaign func() error
)
