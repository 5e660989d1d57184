package messagingtest

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Names of the parameters of a delivery report beside those of inbound messages, the first of each list of the default
// contract. The specification shows none of them.
const (
	nameStatus = "status"
	nameType   = "transactionType"
)

// DeliveryReport is what the service tells of a message that was sent with a callback URL. It is plain data and a [Callback];
// the zero value of a field is absent, and nothing is checked. [Server.ReportDelivery] makes one of a message that the server
// has accepted.
type DeliveryReport struct {
	// ID is the message ID, sent as id; ReferenceID the reference that the client chose, as referenceId. A correct receiver
	// refuses a report that has neither.
	ID, ReferenceID string
	// Status is what became of the message, as status. Of the words and numbers that the contract knows "1" and "delivered"
	// are two; any case will do, and a correct receiver delivers others as unknown.
	Status string
	// Kind is the type of the transaction, as transactionType. The contract names no values.
	Kind string
	// From is the sender ID of the message, as from; To its recipient, as to.
	From, To string
	// At is when the status was reached, as timestamp, in the form of [InboundSMS].
	At time.Time
	// Extra are parameters that no field is for, sent last.
	Extra []Param
}

func (d DeliveryReport) calls() []call { return []call{{d, d.params()}} }

func (d DeliveryReport) params() parameters {
	var p parameters
	p.add(nameStatus, d.Status)
	p.add(nameID, d.ID)
	p.add(nameReference, d.ReferenceID)
	p.addTime(nameTime, d.At)
	p.add(nameType, d.Kind)
	p.add(nameFrom, d.From)
	p.add(nameTo, d.To)
	return slices.Concat(p, d.Extra)
}

var (
	errNoSuchMessage = errors.New("messagingtest: not reported: no message of this ID was accepted")
	errNoCallback    = errors.New("messagingtest: not reported: the message was sent without a callback URL")
	errCallbackURL   = errors.New("messagingtest: not reported: the callback URL is not an http or https URL once its placeholders are replaced")
)

// ReportDelivery calls the callback URL that came with a message, to report a status: a word, or a number such as "1", which
// is sent as it is. The message is one of [Server.Sent], of any channel, that of a fallback too; id is its ID, which the
// client got in its receipt. It is up to the test when to report, what and how often: nothing is reported by itself, and a
// report changes neither [Sent.State] nor what is listed.
//
// A callback URL is a template. Each placeholder is replaced wherever it stands, the longest first, by its value,
// percent-encoded in a way that is right in a path and in a query; the rest of the query stays byte for byte. The
// placeholders are of the default contract; the last column is the stand-in's choice where neither the message nor the
// call says it:
//
//	placeholder   stands for         value
//	%s            status             as given
//	%i            message ID         Sent.ID
//	%r            reference ID       Sent.ReferenceID
//	%d            time               the server's clock, by RFC 3339 in UTC with milliseconds
//	%tr           transaction type   Sent.Channel
//	%f            sender             Sent.From
//	%t            recipient          Sent.To
//
// So an escape in lower case that begins with d or f, such as %f0, is a placeholder too: write it in upper case.
//
// The options are those of [Server.Receive], and so is the rest. With [Unescaped] the values are as they are, and a + in
// front of a number reads as a space unless the receiver repairs it. The callback of the replies is the [DeliveryReport] that
// the URL has room for. If there is no such message, if it has no callback URL, or one that no request can be made of, there
// is one reply, with Attempt 0 and an error that says which.
//
// A correct receiver handles a report of each status once, takes them in any order, and believes no report that does not
// bear its secret.
func (s *Server) ReportDelivery(ctx context.Context, id, status string, opts ...ReceiveOption) []Reply {
	s.mu.Lock()
	r, now := s.ledger.byID[id], s.ledger.clock.now()
	s.mu.Unlock()
	if r == nil || r.foreign {
		return []Reply{{Callback: DeliveryReport{ID: id, Status: status}, Err: errNoSuchMessage}}
	}
	report := DeliveryReport{
		ID: r.ID, ReferenceID: r.ReferenceID, Status: status, Kind: string(r.Channel), From: r.From, To: r.To,
		At: now.UTC().Truncate(time.Millisecond),
	}
	if r.CallbackURL == "" {
		return []Reply{{Callback: report, Err: errNoCallback}}
	}
	how := newReceiving(opts)
	target := report.fill(r.CallbackURL, how.writing)
	if !isURL(target) {
		return []Reply{{Callback: report, Err: errCallbackURL}}
	}
	return s.dispatch(ctx, []dispatch{{report, target}}, how)
}

// fill replaces the placeholders. At each place the first of those that fit is taken: the longest has to stand first.
func (d DeliveryReport) fill(template string, w writing) string {
	return strings.NewReplacer(
		"%tr", w.part(d.Kind),
		"%s", w.part(d.Status),
		"%i", w.part(d.ID),
		"%r", w.part(d.ReferenceID),
		"%d", w.part(formatTime(d.At)),
		"%f", w.part(d.From),
		"%t", w.part(d.To),
	).Replace(template)
}

// part is a value that may stand in a path too, where a + is no space.
func (w writing) part(s string) string {
	if w.unescaped {
		return careless(s)
	}
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}
