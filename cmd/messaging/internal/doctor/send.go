package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// sendText is what the message says that the doctor sends, before a word that no other message has.
const sendText = "Test message of messaging doctor"

// sentMessage is the message that the doctor sent.
type sentMessage struct {
	from, to, text, reference string

	at       time.Time
	call     call
	response document.Node // to the send
}

func (m sentMessage) message() sms.Message {
	return sms.Message{From: m.from, To: m.to, Text: m.text, ReferenceID: m.reference}
}

func (d *doctor) send(ctx context.Context, message sms.Message) call {
	return d.call(ctx, "sms.send", "sending", func(ctx context.Context) error {
		_, err := d.client.SMS.Send(ctx, message)
		return err
	})
}

// sendFirst sends one message, finding out what the service calls the fields that it refuses, and waits until the message is listed. It
// reports whether a message may be on its way.
func (d *doctor) sendFirst(ctx context.Context, from, to string, wait time.Duration) bool {
	d.section = "send"
	const code = 6
	d.sent = sentMessage{from: from, to: to, text: sendText + " " + rand.Text()[:code], at: time.Now()}
	if d.table.SMSSend.Fields["reference"] != "" {
		d.sent.reference = "doctor-" + rand.Text()
	}
	for _, value := range []string{from, to, d.sent.text, d.sent.reference} {
		d.sensitive[value] = true
	}
	d.sent.call = d.sendAmending(ctx)
	first := d.sent.call
	verdict := messaging.VerdictOf(first.err)
	if verdict != messaging.Accepted && verdict != messaging.Unknown {
		d.add("verdict", Differs, verdict.String()+": "+describe(first.err))
		d.examineFailure(first)
		return false
	}
	if first.wrong == nil {
		d.sent.response = first.doc
	}
	if d.sent.reference == "" {
		d.add("reference ID", Unknown, "the contract has none for sending (sms.send.fields.reference), "+
			"so a message whose outcome is unknown cannot be looked up")
	}
	d.awaitListing(ctx, wait)
	if d.mine.Exists() && d.sent.reference != "" {
		d.findReference(ctx, wait)
	}
	return true
}

// findReference finds what the service calls the reference ID, if the row of the message does not have the one that was sent: it sends
// the message once more, with a reference ID of its own under each name that it may have.
func (d *doctor) findReference(ctx context.Context, wait time.Duration) {
	all, _ := columns([]document.Node{d.mine}, "")
	isIt := func(v document.Node) bool { return v.Text() == d.sent.reference }
	if slices.ContainsFunc(all, func(c column) bool { return slices.ContainsFunc(c.values, isIt) }) {
		return
	}
	if d.table.SMSSend.Encoding == "query" {
		return
	}
	old := d.sent
	fields := d.table.SMSSend.Fields
	again := d.sent.message()
	again.Extra = map[string]any{}
	sent := map[string]string{} // names, by what was sent under them
	inRows, _ := columns(d.rows, "")
	var names []string
	for _, c := range inRows {
		names = append(names, c.path[strings.LastIndexByte(c.path, '.')+1:])
	}
	const most = 16
	for _, p := range readVocabulary().concepts["reference"].phrases[:most] {
		names = append(names, styled(strings.Join(p.words, " "))[:2]...)
	}
	for _, name := range names {
		isField := slices.Contains(slices.Collect(maps.Values(fields)), name)
		if !isField && again.Extra[name] == nil && isPlainName(name) {
			value := "doctor-" + rand.Text()
			again.Extra[name], sent[value], d.sensitive[value] = value, name, true
		}
	}
	again.ReferenceID = ""
	d.isSpent = true
	d.sent.text, d.sent.reference = sendText+" "+rand.Text()[:6], ""
	d.sensitive[d.sent.text] = true
	again.Text = d.sent.text
	second := d.send(ctx, again)
	if verdict := messaging.VerdictOf(second.err); verdict != messaging.Accepted && verdict != messaging.Unknown {
		d.sent, d.isSpent = old, false // nothing went out
		return
	}
	first := d.mine
	d.mine = document.Node{}
	d.sent.at = time.Now()
	if d.sent.call, d.sent.response = second, (document.Node{}); second.wrong == nil {
		d.sent.response = second.doc
	}
	if d.awaitListing(ctx, wait); !d.mine.Exists() {
		d.mine, d.sent = first, old
		return
	}
	mine, _ := columns([]document.Node{d.mine}, "")
	for _, c := range mine {
		for _, v := range c.values {
			if name := sent[v.Text()]; name != "" {
				d.sent.reference = v.Text()
				d.propose("field reference", name+" comes back at "+c.path+" of the row, "+fields["reference"]+" does not", name,
					"sms.send", "fields", "reference")
				return
			}
		}
	}
	d.add("field reference", Differs, fields["reference"]+" does not come back in the row, and no other name was found: nothing can be settled")
}

// awaitListing waits until the message is listed, wherever the contract looks for what.
func (d *doctor) awaitListing(ctx context.Context, wait time.Duration) {
	const interval, atLeast, times = time.Second, 30 * time.Second, 5
	if d.first.rows == nil {
		d.add("listed", Differs, "the message cannot be looked up: there is no listing to look into")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if rows, mine, ok := d.findMine(ctx); ok {
			took := time.Since(d.sent.at)
			window := max(atLeast, (times*took + 10*time.Second).Truncate(10*time.Second))
			d.add("listed", OK, fmt.Sprintf("after %v: set SettlePolicy.Window to %v or more", took.Round(100*time.Millisecond), window))
			d.mine = mine
			isMine := func(row document.Node) bool { return sameRow(row, mine) }
			if len(rows) > len(d.rows) {
				d.rows = rows
			} else if !slices.ContainsFunc(d.rows, isMine) {
				d.rows = append([]document.Node{mine}, d.rows...)
			}
			return
		}
		select {
		case <-ctx.Done():
			d.add("listed", Differs, fmt.Sprintf("not within %v (--wait): settling would take the message for lost", wait))
			return
		case <-time.After(interval):
		}
	}
}

// findMine looks for the row of the message among the newest rows, those that the contract's filter finds, and on some pages.
func (d *doctor) findMine(ctx context.Context) (rows []document.Node, mine document.Node, ok bool) {
	const mostPages = 10
	inResponse, _ := columns([]document.Node{d.sent.response}, "")
	isMine := func(row document.Node) bool {
		all, _ := columns([]document.Node{row}, "")
		return slices.ContainsFunc(all, func(c column) bool {
			return slices.ContainsFunc(c.values, func(v document.Node) bool {
				return v.Text() == d.sent.text || d.sent.reference != "" && v.Text() == d.sent.reference
			})
		}) || d.sharesID(all, inResponse)
	}
	among := func(l lookup) bool {
		if i := slices.IndexFunc(l.rows, isMine); i >= 0 {
			mine, ok = l.rows[i], true
		}
		return ok
	}
	newest := d.ask(ctx, "waiting until the message is listed", nil)
	if newest.isPage() && among(newest) {
		return newest.rows, mine, true
	}
	if d.sent.reference != "" && d.table.SMSList.Params["reference"] != "" {
		if among(d.fetch(ctx, "waiting until the message is listed", sms.ListOptions{ReferenceID: d.sent.reference})) {
			return nil, mine, true
		}
	}
	options := sms.ListOptions{PageSize: d.someRows()}
	for range mostPages {
		l := d.fetch(ctx, "waiting until the message is listed", options)
		if rows = append(rows, l.rows...); among(l) {
			return rows, mine, true
		}
		if options.After = l.page.Next; l.err != nil || options.After == "" {
			break
		}
	}
	return nil, mine, false
}

// sharesID reports whether a row has a long value that the response to the send has, and no row before had.
func (d *doctor) sharesID(row, response []column) bool {
	const long = 6
	for _, r := range response {
		for _, c := range row {
			if len(r.values) == 0 || len(c.values) == 0 || !fits("id", c.values) || !fits("id", r.values) {
				continue
			}
			value := c.values[0].Text()
			_, before := find(d.rows, []string{c.path})
			isKnown := slices.ContainsFunc(before, func(v document.Node) bool { return v.Text() == value })
			if len(value) >= long && value == r.values[0].Text() && !d.sensitive[value] && !isKnown {
				return true
			}
		}
	}
	return false
}

// examineResponse looks at what the service responded to the message, once its row is known.
func (d *doctor) examineResponse(context.Context) {
	d.section = "send"
	first := d.sent.call
	if first.x == nil {
		return
	}
	if first.wrong != nil && d.mine.Exists() {
		d.proposeText()
	}
	_, words := find([]document.Node{first.doc}, d.table.SMSSend.Response["status"])
	if first.wrong == nil && first.x.status < http.StatusMultipleChoices {
		proven := map[string]proof{}
		for concept, l := range d.links {
			proven[concept] = proof{l.response, "its row has the same"}
		}
		all, _ := columns([]document.Node{first.doc}, "")
		if path := repeated(all, d.sent.reference); path != "" {
			proven["reference"] = proof{path, "as it was sent"}
		}
		var essential, byProof []string
		if len(d.table.SMSSend.Response["id"]) > 0 {
			essential = []string{"id"}
		}
		if d.mine.Exists() && len(d.links) > 0 {
			byProof = []string{"id", "request", "reference"}
		}
		d.examine(examination{
			docs: []document.Node{first.doc}, section: d.table.SMSSend.Response, place: []string{"sms.send", "response"},
			containers: "receipt", elsewhere: d.errorPaths(), essential: essential, proven: proven, byProof: byProof,
			rejects: func(concept, _ string, values []document.Node) string {
				if concept == "parts" && (len(values) != 1 || values[0].Text() != "1") {
					return "the message that was sent has one part"
				}
				return ""
			},
		})
		d.proposeNoID(first.doc)
		_, words = find([]document.Node{first.doc}, d.table.SMSSend.Response["status"])
	}
	if d.mine.Exists() && len(words) > 0 && !words[0].IsBool() {
		d.acceptWord(words[0].Text())
	}
	d.proposeNoReference()
	d.judge()
	if d.mine.Exists() {
		d.compareClock()
	}
}

// repeated returns the path of the only column that has a value which was sent, or "".
func repeated(all []column, sent string) string {
	found := filter(all, func(c column) bool {
		return slices.ContainsFunc(c.values, func(n document.Node) bool { return n.Text() == sent })
	})
	if sent == "" || len(found) != 1 {
		return ""
	}
	return found[0].path
}

// proposeNoID proposes that the words of the status decide alone, if the message is listed and nothing in its response names it.
func (d *doctor) proposeNoID(response document.Node) {
	s := d.table.SMSSend
	id, _ := find([]document.Node{response}, s.Response["id"])
	status, words := find([]document.Node{response}, s.Response["status"])
	all, _ := columns([]document.Node{response}, "")
	inRow, _ := columns([]document.Node{d.mine}, "")
	isNamed := len(s.Response["id"]) == 0 || id != "" || d.sharesID(inRow, all)
	if isNamed || !d.mine.Exists() || len(words) == 0 || words[0].IsBool() || !d.mayAccept(words[0].Text()) {
		return
	}
	accepted := slices.Clone(s.Accepted)
	if table.Match(accepted, words[0].Text(), true) < 0 {
		accepted = append(accepted, words[0].Text())
	}
	d.proposeAll("no ID", "nothing in the response names the message, which is listed: the word at "+status+" decides alone",
		line{[]string{"sms.send", "response", "id"}, []any{}}, line{[]string{"sms.send", "accepted"}, anyList(accepted)})
}

// proposeNoReference proposes to read no reference of a response, if the service writes references of its own there: nothing else keeps the
// response from an acceptance, and the message is listed with the ID of the response and the reference that was sent.
func (d *doctor) proposeNoReference() {
	hasSent := func(n document.Node) bool {
		all, _ := columns([]document.Node{n}, "")
		isIt := func(v document.Node) bool { return v.Text() == d.sent.reference }
		return slices.ContainsFunc(all, func(c column) bool { return slices.ContainsFunc(c.values, isIt) })
	}
	isAccepted := func() bool { return d.judgement() == nil }
	if d.sent.reference == "" || len(d.links) == 0 || hasSent(d.sent.response) || !hasSent(d.mine) || isAccepted() {
		return
	}
	none := line{[]string{"sms.send", "response", "reference"}, []any{}}
	if d.attempt([]line{none}, isAccepted) {
		d.add("no reference", Differs, "the response has a reference of the service's own; the one that was sent is listed", none)
	}
}

// proposeText proposes to read a response that is not JSON as one text, of a message that is listed.
func (d *doctor) proposeText() {
	raw := strings.TrimSpace(d.sent.call.x.body.String())
	const longest = 200
	text := regexp.MustCompile(`^[A-Za-z0-9 :_.-]*[A-Za-z:]`).FindString(strings.SplitN(raw, "\n", 2)[0])
	if raw == "" || raw[0] == '<' || len(raw) > longest || text == "" || d.sensitive[text] || longNumber.MatchString(text) || table.Match(d.table.SMSSend.Accepted, raw, true) >= 0 {
		return
	}
	word := text
	if text != raw {
		word += "*"
	}
	d.proposeAll("text", "the response is a text, and the message is listed: its beginning accepts a message",
		line{[]string{"sms.send", "response", "id"}, []any{}}, line{[]string{"sms.send", "response", "status"}, []any{""}},
		line{[]string{"sms.send", "accepted"}, []any{word}})
}

// judge reads the response again with what was found, without sending, and says what a client makes of it.
func (d *doctor) judge() {
	err := d.judgement()
	switch verdict := messaging.VerdictOf(err); verdict {
	case messaging.Accepted:
		if d.mine.Exists() {
			d.add("verdict", OK, "accepted, and the message is listed")
		} else {
			d.add("verdict", Note, "accepted; that the message is listed would prove it")
		}
	default:
		d.add("verdict", Differs, verdict.String()+": every send would be: "+describe(err))
	}
}

// judgement returns the error of a send that gets the response again.
func (d *doctor) judgement() error {
	x := d.sent.call.x
	again := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return &http.Response{
			StatusCode: x.status, Header: x.response.Clone(), Body: io.NopCloser(bytes.NewReader(x.body.Bytes())), Request: r,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(x.body.Len()),
		}, nil
	})
	if x.status == 0 {
		return d.sent.call.err
	}
	client, err := d.client.With(messaging.WithTransport(func(http.RoundTripper) http.RoundTripper { return again }))
	if err != nil {
		return err
	}
	_, err = client.SMS.Send(context.Background(), d.sent.message())
	return err
}

// acceptWord proposes a word of a message that was accepted, if the contract does not know it.
func (d *doctor) acceptWord(word string) {
	s := d.table.SMSSend
	if table.Match(s.Accepted, word, true) >= 0 || !d.mayAccept(word) {
		return
	}
	d.propose("accepted", "the status of a message that was listed is no word that the contract knows", append(slices.Clone(s.Accepted), word), "sms.send", "accepted")
}

// mayAccept reports whether a word of a message that is listed may be one of acceptance.
func (d *doctor) mayAccept(word string) bool {
	refuses := table.Match(d.table.SMSSend.Refused, word, true) >= 0
	return (isPlainName(word) || isWhole.MatchString(word)) && !d.sensitive[word] && !refuses
}

// compareClock compares the time at which a message is listed to have been created with the clock.
func (d *doctor) compareClock() {
	const tolerance, quarter = 5 * time.Minute, 15 * time.Minute
	at, unread := d.times([]document.Node{d.mine}, "created")
	if len(at) == 0 || len(unread) > 0 {
		d.add("zone", Note, "the row does not say when it was created")
		return
	}
	off := at[0].Sub(d.sent.at)
	if off.Abs() < tolerance {
		d.add("zone", OK, "the time of the row agrees with the clock")
		return
	}
	zone, _ := time.LoadLocation(d.table.SMSList.Zone) // of a valid contract
	_, now := d.sent.at.In(zone).Zone()
	hours := (time.Duration(now)*time.Second + off.Round(quarter)).Hours()
	detail := fmt.Sprintf("the time of the row is off by %v", off.Round(time.Minute))
	const farthest = 14
	if hours != math.Trunc(hours) || math.Abs(hours) > farthest || (off-off.Round(quarter)).Abs() > tolerance {
		d.add("zone", Differs, detail+": see sms.list.zone")
		return
	}
	d.propose("zone", detail+"; write the place instead if it has summer time, such as Europe/London",
		fmt.Sprintf("Etc/GMT%+d", -int(hours)), "sms.list", "zone")
}

// sendAgain sends the message again, with all that was found.
func (d *doctor) sendAgain(ctx context.Context) {
	d.section = "send"
	if d.isSpent {
		d.add("duplicate", Note, "not tried: two messages were sent to find the name of the reference ID")
		d.resent(d.judgement(), false)
		return
	}
	second := d.send(ctx, d.sent.message())
	verdict := messaging.VerdictOf(second.err)
	failed, _ := errors.AsType[*messaging.Error](second.err)
	const name = "duplicate"
	isDuplicate := false
	defer func() { d.resent(second.err, isDuplicate) }()
	switch {
	case d.sent.reference == "" && verdict != messaging.Unknown:
		d.add(name, Note, "not tried: the message has no reference ID")
	case errors.Is(second.err, messaging.ErrDuplicate):
		isDuplicate = true
		d.add(name, OK, "a second send with the same reference ID is refused")
	case verdict == messaging.Accepted:
		d.add(name, Note, "a second send with the same reference ID is accepted: the service does not guard against duplicates, so never send again what may have been sent")
	case verdict == messaging.Unknown:
		d.add(name, Differs, "a second send is unknown, with all that was found: "+describe(second.err))
	case failed == nil || failed.StatusCode == http.StatusTooManyRequests:
		d.add(name, Note, "not tried: "+describe(second.err))
	default:
		d.examineFailure(second)
		d.section = "send"
		code := failed.Code
		if _, codes := find([]document.Node{second.doc}, d.table.Errors.Code); code == "" && len(codes) > 0 {
			code = codes[0].Text()
		}
		classes := d.table.Errors.Classes
		detail := "a second send with the same reference ID is refused, but not as a duplicate: " + describe(failed)
		if class, _ := table.Meaning(classes, code, false); class != "" || !isCode(code) || d.sensitive[code] {
			d.add(name, Differs, detail+" (errors.classes.duplicate)")
			return
		}
		isDuplicate = true
		d.propose(name, detail, append(slices.Clone(classes["duplicate"]), code), "errors", "classes", "duplicate")
	}
}

// resent says whether a second send, with the overlay, was accepted, or refused for being the second.
func (d *doctor) resent(err error, isDuplicate bool) {
	d.section = "overlay"
	switch {
	case isDuplicate:
		d.add("sends", OK, "the second send is refused as a duplicate")
	case messaging.VerdictOf(err) == messaging.Accepted:
		d.add("sends", OK, "the second send is accepted")
	default:
		d.add("sends", Differs, "the second send: "+describe(err))
	}
}

var longNumber = regexp.MustCompile(`[0-9]{7}`)

// isCode reports whether a word of the service is plain enough to be a code, and no number of a person.
func isCode(word string) bool {
	const longest = 40
	return len(word) <= longest && isWord.MatchString(word) && !longNumber.MatchString(word)
}
