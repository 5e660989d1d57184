package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

type otp struct {
	http.ServeMux

	db       *sql.DB
	pool     *pgxpool.Pool   // of db, or nil on SQLite
	store    *sqlstore.Store // reports that were handled
	outbox   *messagingriver.Outbox[*sql.Tx]
	sender   string // of SMS
	smsAfter time.Duration
	callback string // where the service reports delivery
}

func open(ctx context.Context, in settings) (*otp, error) {
	o := &otp{sender: in.sender, smsAfter: in.smsAfter}
	if err := o.connect(ctx, in.databaseURL); err != nil {
		return nil, err
	}
	if err := o.build(ctx, in); err != nil {
		o.close()
		return nil, err
	}
	return o, nil
}

// connect opens a database: PostgreSQL if it is a URL, and otherwise an SQLite file.
func (o *otp) connect(ctx context.Context, database string) (err error) {
	if isPostgres(database) {
		o.pool, err = pgxpool.New(ctx, database)
		if err != nil {
			return err
		}
		o.db = stdlib.OpenDBFromPool(o.pool) // all transactions are those of database/sql
		return nil
	}
	o.db, err = sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return err
	}
	o.db.SetMaxOpenConns(1) // the program, the receiver and the outbox share the connection
	return nil
}

func isPostgres(database string) bool {
	return strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://")
}

// close closes the database. Everything is committed.
func (o *otp) close() {
	_ = o.db.Close()
	if o.pool != nil {
		o.pool.Close()
	}
}

// build makes the parts of the program on its database.
func (o *otp) build(ctx context.Context, in settings) (err error) {
	in.outbox.OnOutcome = o.noteOutcome
	in.outbox.Keep = 24 * time.Hour // of no use after that: each code has reference IDs of its own
	if o.pool != nil {
		o.outbox, err = messagingriver.NewPostgresSQL(o.pool, in.client, in.outbox)
	} else {
		o.outbox, err = messagingriver.NewSQLite(o.db, in.client, in.outbox)
	}
	if err != nil {
		return err
	}
	o.store, err = sqlstore.New(ctx, o.db, 0)
	if err != nil {
		return err
	}
	logHook := webhook.WithHook(webhook.LogHook(slog.Default()))
	hooks, err := in.newReceiver(webhook.WithStore(o.store), logHook, webhook.WithHook(errorHook()))
	if err != nil {
		return err
	}
	o.callback, err = hooks.DeliveryURL(in.url + "/hooks/delivery")
	if err != nil {
		return err
	}
	o.HandleFunc("POST /codes", o.serveSend)
	o.HandleFunc("POST /codes/status", o.serveStatus)
	o.HandleFunc("POST /codes/verify", o.serveVerify)
	o.Handle("/hooks/delivery", hooks.Delivery(o.report))
	return nil
}

// errorHook logs the errors of the store and of report, which LogHook does not log because they may hold anything. A report that another call is
// handling, or that comes too early, is no error.
func errorHook() webhook.Hook {
	return webhook.Hook{End: func(_ context.Context, r webhook.Result) {
		isExpected := errors.Is(r.Err, webhook.ErrInProgress) || errors.Is(r.Err, webhook.ErrRetryLater)
		if r.StatusCode >= http.StatusInternalServerError && !isExpected {
			log.Printf("otp: report %s was not handled: %v", r.ID, r.Err)
		}
	}}
}

// internationalNumber is the one spelling of a number that serveSend takes. With others, such as 00639171234567, a number would get more codes than
// maxCodes.
var internationalNumber = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// randomID is a request or a challenge. Whoever knows one can use it, so it must be hard to guess.
var randomID = regexp.MustCompile(`^[A-Za-z0-9-]{20,64}$`)

// serveSend sends a code to the number in the form, and responds with the challenge, with which the page asks for the status and verifies the code.
// The page makes up a random ID for the request, such as crypto.randomUUID(), and repeats the request with it if the response was lost. Limit the
// requests of each address, too: codes cost, and a stranger can use up those of a number.
func (o *otp) serveSend(w http.ResponseWriter, r *http.Request) {
	number := r.PostFormValue("to")
	if !internationalNumber.MatchString(number) {
		http.Error(w, "the number must begin with + and the country code, and have digits only", http.StatusBadRequest)
		return
	}
	request := r.PostFormValue("request")
	if !randomID.MatchString(request) {
		http.Error(w, "the request must have a random ID of 20 to 64 letters, digits and hyphens", http.StatusBadRequest)
		return
	}
	challenge, err := o.send(r.Context(), number, request)
	respond(w, r, http.StatusAccepted, challenge, err)
}

// serveStatus responds with the status of the code of a challenge, which is in the form because logs have paths.
func (o *otp) serveStatus(w http.ResponseWriter, r *http.Request) {
	status, err := o.status(r.Context(), r.PostFormValue("challenge"))
	respond(w, r, http.StatusOK, status, err)
}

// serveVerify responds with the number that the code was sent to. Log in that number, and never one of a form: a stranger could verify a code of
// his own, and name the number of another person.
func (o *otp) serveVerify(w http.ResponseWriter, r *http.Request) {
	number, err := o.verify(r.Context(), r.PostFormValue("challenge"), r.PostFormValue("code"))
	respond(w, r, http.StatusOK, number, err)
}

var (
	errWrong   = errors.New("the code is wrong")
	errInvalid = errors.New("the code is no longer valid; ask for another one")
	errTooMany = errors.New("too many codes; try again in five minutes")
)

// respond responds with a text, unless there is an error.
func respond(w http.ResponseWriter, r *http.Request, statusCode int, text string, err error) {
	switch {
	case errors.Is(err, errWrong):
		http.Error(w, err.Error(), http.StatusForbidden)
	case errors.Is(err, errInvalid):
		http.Error(w, err.Error(), http.StatusGone)
	case errors.Is(err, errTooMany):
		http.Error(w, err.Error(), http.StatusTooManyRequests)
	case err != nil:
		log.Printf("otp: %s: %v", r.Pattern, err) //nolint:gosec // the path in the pattern is fixed
		http.Error(w, "try again", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(statusCode)
		_, _ = io.WriteString(w, text) //nolint:gosec // as plain text
	}
}
