// Command bot answers messages of both chat apps. The event, the bot's own row and the answer are one transaction in SQLite, so a person
// gets one answer to each message, even if the service calls again or the process is killed. It runs on a test server, which calls it
// twice for each message, and ends.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

func main() {
	service := messagingtest.Start()
	defer service.Close()
	if err := run(context.Background(), service); err != nil {
		fmt.Fprintln(os.Stderr, "bot:", err)
		os.Exit(1) //nolint:gocritic // nothing that Close would release outlives the process
	}
}

func run(ctx context.Context, service *messagingtest.Server) error {
	b, err := open(ctx, ":memory:", service.URL, service.Token) // a real bot has a file
	if err != nil {
		return err
	}
	defer b.db.Close() //nolint:errcheck // it is in memory
	if err = b.river.Start(ctx); err != nil {
		return err
	}
	server := httptest.NewServer(b)
	defer server.Close()
	for i, text := range []string{"hello", "menu", "invoice", "order"} {
		for _, app := range []messagingtest.Channel{messagingtest.ChannelChatApp1, messagingtest.ChannelChatApp2} {
			message := messagingtest.InboundChatApp{
				Channel: app, ID: fmt.Sprintf("in-%s-%d", app, i), From: "639171234567", To: "channel-1", Kind: "text", Text: text,
			}
			service.Receive(ctx, server.URL+"/"+string(app)+"?key=secret", message, messagingtest.TwiceAtOnce())
		}
	}
	for range 8 {
		sent, _ := service.WaitFor(ctx, "639171234567") // until the context ends
		fmt.Printf("%s: %s is %s\n", sent.Channel, sent.ReferenceID, sent.Kind)
	}
	return b.river.Stop(ctx)
}

type bot struct {
	http.ServeMux

	db     *sql.DB
	outbox *messagingriver.Outbox[*sql.Tx]
	river  *river.Client[*sql.Tx] // sends what is in the outbox
}

func open(ctx context.Context, path, service, token string) (*bot, error) {
	// The receiver and the outbox share one connection, and each transaction is one that writes.
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	store, err := sqlstore.New(ctx, db, 0)
	if err != nil {
		return nil, err
	}
	client, clientErr := messaging.NewClient(service, messaging.WithToken(token))
	outbox, outboxErr := messagingriver.NewSQLite(db, client, messagingriver.Options{})
	hooks, hooksErr := webhook.NewReceiver(webhook.WithSecret("key", "secret"), webhook.WithStore(store))
	if err = errors.Join(clientErr, outboxErr, hooksErr); err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bot_message (sender TEXT NOT NULL, content TEXT NOT NULL)")
	config := &river.Config{SoftStopTimeout: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)}
	if err = errors.Join(err, outbox.Migrate(ctx), outbox.AddTo(config)); err != nil {
		return nil, err
	}
	b := &bot{db: db, outbox: outbox}
	b.Handle("/chatapp1", hooks.ChatApp1(b.receive))
	b.Handle("/chatapp2", hooks.ChatApp2(b.receive))
	b.river, err = river.NewClient(riversqlite.New(db), config)
	return b, err
}

// receive writes down what arrived and enqueues the answer, in the transaction that notes the message as handled.
func (b *bot) receive(ctx context.Context, m webhook.ChatMessage) error {
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	_, rowErr := tx.ExecContext(ctx, "INSERT INTO bot_message (sender, content) VALUES ($1, $2)", m.From, fmt.Sprint(m.Content))
	_, err = b.outbox.Insert(ctx, tx, answer(m))
	return errors.Join(rowErr, err)
}

// answer returns the answer to a message: what a tapped button or row has as its ID is like a text.
func answer(m webhook.ChatMessage) messaging.Message {
	text, _ := m.Content.(webhook.Text)
	tapped, _ := m.Content.(webhook.Reply)
	word := strings.ToLower(cmp.Or(tapped.ID, text.Body))
	if m.Callback == webhook.CallbackChatApp1 {
		return answer1(word, chatapp1.New(m.To, m.From)).WithReference("answer-" + m.ID)
	}
	return chatapp2.Message{To: m.From, Content: answer2(word), ReplyTo: m.ID, ReferenceID: "answer-" + m.ID}
}

func answer1(word string, to chatapp1.Draft) chatapp1.Message {
	switch word {
	case "menu":
		return to.CallToAction(chatapp1.CallToAction{Text: "What we have", Caption: "Menu", URL: "https://shop.example.com/menu"})
	case "order":
		return to.Template(chatapp1.Template{ID: "order_ready", Language: "en"})
	default:
		return to.Text("Hello! Write menu or order.")
	}
}

func answer2(word string) chatapp2.Content {
	switch word {
	case "menu":
		rows := []chatapp2.Row{{ID: "invoice", Title: "My invoice"}, {ID: "order", Title: "My order"}}
		return chatapp2.Interactive{Body: "What we have", Action: chatapp2.List{Button: "Menu", Sections: []chatapp2.Section{{Rows: rows}}}}
	case "invoice":
		return chatapp2.Document{Media: chatapp2.MediaLink("https://shop.example.com/invoice-17.pdf"), FileName: "invoice-17.pdf"}
	case "order":
		return chatapp2.Template{Name: "order_ready", Language: "en_US", Components: []chatapp2.Component{chatapp2.Body("Ana", "17")}}
	default:
		return chatapp2.Interactive{Body: "Hi", Action: chatapp2.ReplyButtons{{ID: "menu", Title: "Menu"}, {ID: "order", Title: "Order"}}}
	}
}
