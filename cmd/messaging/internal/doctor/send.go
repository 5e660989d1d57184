package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// sendText is what the message says that the doctor sends.
const sendText = "Test message of messaging doctor"

func (d *doctor) send(ctx context.Context, message sms.Message) call {
	return d.call(ctx, "sms.send", "sending", func(ctx context.Context) error {
		_, err := d.client.SMS.Send(ctx, message)
		return err
	})
}

// examineSend sends one message, waits until it is listed, and sends it again to see whether the service refuses a duplicate.
func (d *doctor) examineSend(ctx context.Context, from, to string, wait time.Duration) {
	d.section = "send"
	message := sms.Message{From: from, To: to, Text: sendText}
	if d.table.SMSSend.Fields["reference"] != "" {
		message.ReferenceID = "doctor-" + rand.Text()
	}
	for _, value := range []string{from, to, sendText, message.ReferenceID} {
		d.sensitive[value] = true
	}
	began := time.Now()
	first := d.send(ctx, message)
	verdict := messaging.VerdictOf(first.err)
	_, words := find([]document.Node{first.doc}, d.table.SMSSend.Response["status"])
	if first.wrong == nil && first.x.status < http.StatusMultipleChoices {
		d.examine(examination{
			docs: []document.Node{first.doc}, section: d.table.SMSSend.Response, place: []string{"sms.send", "response"},
			containers: "receipt", elsewhere: d.errorPaths(), essential: []string{"id"}, reference: message.ReferenceID,
		})
	}
	switch verdict {
	case messaging.Accepted:
		d.add("verdict", OK, "accepted")
	case messaging.Unknown:
		// The response may have been read by now, with what was just found. Only the listing shows it.
		d.add("verdict", Note, "unknown: "+describe(first.err))
	default:
		d.refused("verdict", verdict.String()+": "+describe(first.err), first)
		return
	}
	if message.ReferenceID == "" {
		d.add("listed", Unknown, "the contract has no reference ID for sending (sms.send.fields.reference), so the message cannot be looked up")
		return
	}
	if d.awaitListing(ctx, message.ReferenceID, began, wait) && len(words) > 0 && !words[0].IsBool() {
		d.acceptWord(words[0].Text())
	}
	d.examineDuplicate(ctx, message)
}

// acceptWord proposes a word of a message that was accepted, if the contract does not know it.
func (d *doctor) acceptWord(word string) {
	s := d.table.SMSSend
	if table.Match(s.Accepted, word, true) >= 0 || !isPlainName(word) && !isWhole.MatchString(word) || d.sensitive[word] {
		return
	}
	d.propose("accepted", "the status of a message that was listed is no word that the contract knows", append(slices.Clone(s.Accepted), word), "sms.send", "accepted")
}

// awaitListing looks the message up until it is listed, and reports whether it was.
func (d *doctor) awaitListing(ctx context.Context, reference string, sent time.Time, wait time.Duration) bool {
	const interval, atLeast, times = time.Second, 30 * time.Second, 5
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		var tx sms.Transaction
		err := d.call(ctx, "sms.list", "waiting until the message is listed", func(ctx context.Context) (err error) {
			tx, err = d.client.SMS.Find(ctx, reference)
			return err
		}).err
		took := time.Since(sent)
		if err == nil {
			window := max(atLeast, (times*took + 10*time.Second).Truncate(10*time.Second))
			d.add("listed", OK, fmt.Sprintf("after %v: set SettlePolicy.Window to %v or more", took.Round(100*time.Millisecond), window))
			d.compareClock(tx, sent)
			return true
		}
		if !errors.Is(err, messaging.ErrNotListed) && d.findReference(ctx, reference) {
			continue
		}
		if !errors.Is(err, messaging.ErrNotListed) {
			d.add("listed", Differs, "the message cannot be looked up: "+describe(err))
			return false
		}
		select {
		case <-ctx.Done():
			d.add("listed", Differs, fmt.Sprintf("not within %v (-wait): settling would take the message for lost", wait))
			return false
		case <-time.After(interval):
		}
	}
}

// findReference finds the member of the rows that has a reference ID, and reports whether the contract now names it.
func (d *doctor) findReference(ctx context.Context, reference string) bool {
	l := d.fetch(ctx, "looking for the reference ID", sms.ListOptions{ReferenceID: reference, PageSize: someRows})
	all, _ := columns(l.rows, "")
	path := repeated(unclaimed(all, d.table.SMSList.Record), reference)
	return path != "" && d.propose("reference in rows", path+" has the one that was sent", []any{path}, "sms.list", "record", "reference")
}

// compareClock compares the time at which a message is listed to have been created with the clock.
func (d *doctor) compareClock(tx sms.Transaction, sent time.Time) {
	const tolerance, quarter = 5 * time.Minute, 15 * time.Minute
	if tx.CreatedAt.IsZero() {
		d.add("zone", Note, "the row does not say when it was created")
		return
	}
	off := tx.CreatedAt.Sub(sent)
	if off.Abs() < tolerance {
		d.add("zone", OK, "the time of the row agrees with the clock")
		return
	}
	zone, _ := time.LoadLocation(d.table.SMSList.Zone) // of a valid contract
	_, now := sent.In(zone).Zone()
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

// examineDuplicate sends a message again.
func (d *doctor) examineDuplicate(ctx context.Context, message sms.Message) {
	second := d.send(ctx, message)
	verdict := messaging.VerdictOf(second.err)
	failed, _ := errors.AsType[*messaging.Error](second.err)
	const name = "duplicate"
	switch {
	case errors.Is(second.err, messaging.ErrDuplicate):
		d.add(name, OK, "a second send with the same reference ID is refused")
	case verdict == messaging.Accepted || verdict == messaging.Unknown:
		d.add(name, Note, fmt.Sprintf("a second send with the same reference ID is %v: the service does not guard against duplicates, so never send again what may have been sent", verdict))
	case failed == nil || failed.StatusCode == http.StatusTooManyRequests:
		d.add(name, Note, "not tried: "+describe(second.err))
	default:
		d.examineFailure(second)
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
		d.propose(name, detail, append(slices.Clone(classes["duplicate"]), code), "errors", "classes", "duplicate")
	}
}

var longNumber = regexp.MustCompile(`[0-9]{7}`)

// isCode reports whether a word of the service is plain enough to be a code, and no number of a person.
func isCode(word string) bool {
	const longest = 40
	return len(word) <= longest && isWord.MatchString(word) && !longNumber.MatchString(word)
}
