package messagingtest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// DeliveryReport is what the service reports about a message that was sent with a callback URL. Nothing is checked.
// [Server.ReportDelivery] makes one of a message that the server has accepted.
type DeliveryReport struct {
	Status      string    `concept:"status"`    // a word or a number, such as "delivered" or "1"
	ID          string    `concept:"id"`        // the message ID
	ReferenceID string    `concept:"reference"` // that the client chose
	At          time.Time `concept:"time"`      // when the status was reached; written as [InboundSMS] says
	Kind        string    `concept:"kind"`      // the type of the transaction
	From        string    `concept:"from"`      // the sender ID of the message
	To          string    `concept:"to"`        // the recipient of the message
	Extra       []Param
}

func (d DeliveryReport) events() []event { return []event{{d, "delivery", d.Extra}} }

var (
	errNoSuchMessage = errors.New("messagingtest: not reported: no message with this ID was accepted")
	errNoCallback    = errors.New("messagingtest: not reported: the message was sent without a callback URL")
	errCallbackURL   = errors.New("messagingtest: not reported: the callback URL with its placeholders replaced is no http or https URL")
)

// statusWord returns the word of the contract for a status such as "delivered", if the contract does not know that word.
func statusWord(statuses map[string][]string, status string) string {
	if meaning, _ := table.Meaning(statuses, status, true); meaning != "" {
		return status
	}
	return cmp.Or(firstWord(statuses[status]), status)
}

// ReportDelivery calls the callback URL of a message in [Server.Sent] to report a status: a word, or a number such as "1". A
// status of package webhook that the contract has other words for, such as "delivered", is reported by the first of those. The
// test decides when and how often to report: nothing is reported by itself, and a report changes neither [Sent.State] nor
// listings.
//
// Placeholders in the callback URL are replaced, percent-encoded unless the option [Unescaped] is given. By the default
// contract they are %s, the status; %i, the message ID; %r, the reference ID; %d, the time by the server's clock; %tr, the
// [Channel]; %f, the sender; and %t, the recipient. So an escape that begins with %d or %f is a placeholder too: write it in
// upper case.
//
// The options and replies are those of [Server.Receive]. If there is no such message, or no callback URL that can be called,
// there is one reply, with Attempt 0 and an error that says which.
func (s *Server) ReportDelivery(ctx context.Context, id, status string, opts ...ReceiveOption) []Reply {
	s.mu.Lock()
	r, now := s.ledger.byID[id], s.ledger.now()
	s.mu.Unlock()
	if r == nil || r.foreign {
		return []Reply{{Callback: DeliveryReport{ID: id, Status: status}, Err: errNoSuchMessage}}
	}
	how := newReceiving(s.names, opts)
	report := DeliveryReport{
		ID: r.ID, ReferenceID: r.ReferenceID, Kind: string(r.Channel), From: r.From, To: r.To,
		Status: statusWord(how.names.WebhookDelivery.Statuses, status), At: now.UTC().Truncate(time.Millisecond),
	}
	target := report.fill(r.CallbackURL, how.names, how.unescaped)
	calls := []call{{callback: report, method: http.MethodGet, url: target}} // without parameters: the URL says it all
	switch {
	case target == "":
		return []Reply{{Callback: report, Err: errNoCallback}}
	case !isURL(target):
		return []Reply{{Callback: report, Err: errCallbackURL}}
	case how.encoding != "":
		calls = how.calls(target, report.events())
	}
	return s.deliverAll(ctx, calls, how)
}

// fill replaces the placeholders of a callback URL. Of two that fit, the longer is meant: %tr, not %t.
func (d DeliveryReport) fill(template string, t *table.Table, unescaped bool) string {
	escape := escapeLittle
	if !unescaped {
		escape = func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") } // in a path, a + is no space
	}
	var replacements [][]string
	for _, f := range d.events()[0].fields(t) {
		if placeholder := t.WebhookDelivery.Placeholders[f.Name]; placeholder != "" {
			replacements = append(replacements, []string{placeholder, escape(f.Value)})
		}
	}
	slices.SortStableFunc(replacements, func(a, b []string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return strings.NewReplacer(slices.Concat(replacements...)...).Replace(template)
}
