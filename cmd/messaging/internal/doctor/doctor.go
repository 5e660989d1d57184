package doctor

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// doctor is one examination.
type doctor struct {
	client   *messaging.Client // nil without an account
	base     *url.URL
	table    *table.Table
	overlay  overlay
	recorder *recorder
	report   *Report
	timeout  time.Duration
	say      func(format string, args ...any) // about what is going on
	secrets  []string
	// sensitive are the values of messages that were seen, or sent.
	sensitive    map[string]bool
	rows         []document.Node // of the listing
	first        lookup          // the first page, without any parameter
	whole        bool            // rows are all that the account lists
	mine         document.Node   // the row of the message that was sent, if there is one
	sent         sentMessage     // the message that was sent, if one was
	isSpent      bool            // a second message was sent
	isWithout    bool            // the service refuses every reference ID of a send
	links        map[string]link // IDs that a response and the row of its message have, by concept
	filters      map[string]filtered
	sizeCounts   bool                       // the contract's page size does
	callbacks    map[string][]document.Node // the events that were received, by kind
	heard        map[string]bool            // the kinds of callbacks that were received
	section      string                     // of the checks that are added
	plain        *messaging.Client          // sends no parameter of the contract; nil until it is needed
	isStrict     bool                       // the service refuses a parameter that it does not know
	unknownParam string                     // how it refuses one, as pattern says
	hints        []string                   // names that the service itself mentioned, in refusals and links
}

// add adds a check, with the lines of the overlay that were adopted for it.
func (d *doctor) add(name string, result Result, detail string, adopted ...line) {
	c := Check{Section: d.section, Name: name, Result: result, Detail: detail}
	var lines []string
	for _, l := range adopted {
		lines = append(lines, l.String())
	}
	c.Overlay = strings.Join(lines, ", ")
	d.report.Checks = append(d.report.Checks, c)
}

// propose adds a check for what differs, with the line that makes it right if the contract allows it.
func (d *doctor) propose(name, detail string, value any, path ...string) {
	d.proposeAll(name, detail, line{path, value})
}

func (d *doctor) proposeAll(name, detail string, lines ...line) {
	if !d.adopt(lines...) {
		lines = nil
	}
	d.add(name, Differs, detail, lines...)
}

// adopt adds lines to the overlay and goes on with it, if the contract allows them.
func (d *doctor) adopt(lines ...line) bool {
	if len(lines) == 0 {
		return true
	}
	changed, names, err := d.overlay.with(lines)
	if err != nil {
		return false
	}
	if d.client != nil {
		client, err := d.client.With(messaging.WithContract(names))
		if err != nil {
			return false
		}
		d.client, d.plain = client, nil
	}
	d.overlay, d.table = changed, names.Table()
	return true
}

// describe says why a call failed. The texts of the library's errors hold no values of messages.
func describe(err error) string {
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	_, isRow := errors.AsType[*messaging.RowError](err)
	_, isFailed := errors.AsType[*messaging.Error](err)
	if !isInvalid && !isRow && !isFailed {
		return "the call failed"
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "messaging: "), "\n", "; ")
	for _, class := range []error{
		messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrRateLimited, messaging.ErrInsufficientBalance, messaging.ErrDuplicate,
		messaging.ErrNotFound, messaging.ErrUnavailable, messaging.ErrInvalid,
	} {
		if isFailed && errors.Is(err, class) {
			return text + " (class: " + strings.TrimPrefix(class.Error(), "messaging: ") + ")"
		}
	}
	return text
}

// share says in how many of all documents something is, if not in all.
func share(n, total int) string {
	if n == total {
		return ""
	}
	return fmt.Sprintf(", in %d of %d", n, total)
}
