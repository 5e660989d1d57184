package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A record is a line of the file that keeps messages and settings between runs. A later record of a message replaces the one before.
type record struct {
	Sent    *messagingtest.Sent `json:"sent,omitempty"`
	States  []Reached           `json:"states,omitempty"`  // of the message
	Balance string              `json:"balance,omitempty"` // after the message

	Answer *Answer   `json:"answer,omitempty"`
	ID     string    `json:"id,omitempty"` // of the answer
	At     time.Time `json:"at,omitzero"`

	Removed  string        `json:"removed,omitempty"` // the ID of a message or an answer
	Delivery *keptDelivery `json:"delivery,omitempty"`
	State    *keptState    `json:"state,omitempty"`
}

// keptDelivery is what becomes of messages to a recipient.
type keptDelivery struct {
	Channel messagingtest.Channel `json:"channel,omitempty"`
	To      string                `json:"to"`
	Outcome string                `json:"outcome"`
	After   time.Duration         `json:"after,omitempty"`
}

// keptState is what else is set.
type keptState struct {
	Advanced         time.Duration                    `json:"advanced"`
	Balance          string                           `json:"balance"`
	RefuseDuplicates bool                             `json:"refuseDuplicates"`
	ListingLag       time.Duration                    `json:"listingLag"`
	Webhooks         map[messagingtest.Channel]string `json:"webhooks"`
	WebhookForm      string                           `json:"webhookForm"`
}

// maxFile is the size at which the file is written anew, with what is still there, and twice what can be read.
const maxFile = 512 << 20

// journal appends records to a file. A nil journal keeps nothing. The sandbox's mutex guards it.
type journal struct {
	file *os.File
	lock *os.File // beside it, as long as the sandbox runs
	size int64
	err  error // the first
}

var errKept = errors.New("another sandbox keeps its messages there")

// restore reads the file into the ledger, the book and the settings, and keeps what comes in it. A last line that was torn is cut off; any
// other that is wrong is an error, which names the line. A file that another sandbox keeps is refused.
func (s *Sandbox) restore(name string) error {
	s.keep = &journal{}
	var err error
	// The lock has a file of its own, because compact renames another file to that name. It comes first: what is opened before
	// may be a file that the sandbox which has the lock is about to replace.
	s.keep.lock, err = os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the user names it
	if err == nil {
		err = lock(s.keep.lock)
	}
	if err == nil {
		s.keep.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the same
	}
	if err == nil {
		err = s.readAll(s.keep.file)
	}
	if err == nil {
		s.seed()
		err = s.keep.compact(s.records())
	}
	if err != nil {
		_ = s.keep.close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *Sandbox) readAll(file *os.File) error {
	if info, err := file.Stat(); err != nil || info.Size() > 2*maxFile || !info.Mode().IsRegular() {
		return cmp.Or(err, errors.New("not a regular file of up to 1 GiB"))
	}
	r := bufio.NewReader(file)
	var whole int64
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what is left has no end: it was torn
			return file.Truncate(whole)
		}
		if err != nil {
			return err
		}
		whole += int64(len(line))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var rec record
		if json.Unmarshal(line, &rec) != nil || !rec.isValid() {
			return fmt.Errorf("line %d is not a message of a sandbox", number)
		}
		s.replay(rec)
	}
}

func (r record) isValid() bool {
	switch {
	case r.State != nil:
		return r.State.isValid()
	case r.Delivery != nil:
		choice := outcomeChoice{r.Delivery.Outcome, r.Delivery.After}
		return r.Delivery.To != "" && choice.check() == nil && (r.Delivery.Channel == "" || channelName(r.Delivery.Channel) != "")
	case r.Removed != "":
		return true
	case r.Answer != nil:
		return r.Sent == nil && r.ID != "" && r.Answer.check() == ""
	case r.Sent == nil || r.Sent.ID == "" || channelName(r.Sent.Channel) == "" || r.Balance != "" && !isBalance(r.Balance):
		return false
	}
	for _, value := range r.Sent.Extra {
		if !json.Valid(value) {
			return false
		}
	}
	return true
}

func (k *keptState) isValid() bool {
	for channel, target := range k.Webhooks {
		if channelName(channel) == "" || target != "" && webURL(target) == "" {
			return false
		}
	}
	isForm := slices.Contains([]string{formQuery, formForm, formJSON}, k.WebhookForm)
	return isForm && isBalance(k.Balance) && k.Advanced >= 0 && k.Advanced <= maxAdvance && k.ListingLag >= 0 && k.ListingLag <= maxAdvance
}

// replay enters a record, or replaces the one before.
func (s *Sandbox) replay(r record) {
	switch {
	case r.State != nil:
		s.replayState(r.State)
	case r.Delivery != nil:
		s.chooseOutcome(r.Delivery.Channel, r.Delivery.To, outcomeChoice{r.Delivery.Outcome, r.Delivery.After})
	case r.Removed != "":
		if e := s.book.byID[r.Removed]; e != nil {
			s.book.remove(e)
		}
	case r.Answer != nil:
		if s.book.byID[r.ID] == nil {
			s.book.add(newAnswer(r.ID, r.Answer, r.At))
		}
	default:
		s.replayMessage(r)
	}
}

func (s *Sandbox) replayMessage(r record) {
	e := s.book.byID[r.Sent.ID]
	switch {
	case e == nil:
		e = newEntry(r.Sent, s.table)
		e.seen, e.restored = true, true
		s.book.add(e)
	case e.Sent == nil:
		return // the ID of an answer
	}
	e.Sent, e.States = r.Sent, r.States
	e.reach(r.Sent.State, cmp.Or(r.Sent.StateAt, r.Sent.At)) // of a file without states
	s.book.resize(e)
	if r.Balance != "" {
		s.service.SetBalance(r.Balance)
	}
}

// replayState sets what was set. A webhook that the command line names stays.
func (s *Sandbox) replayState(k *keptState) {
	if k.Advanced > s.advanced {
		s.service.Advance(k.Advanced - s.advanced)
		s.advanced = k.Advanced
	}
	s.service.SetBalance(k.Balance)
	s.service.RefuseDuplicates(k.RefuseDuplicates)
	s.service.SetLag(k.ListingLag)
	s.duplicate, s.lag, s.form = k.RefuseDuplicates, k.ListingLag, k.WebhookForm
	for channel, target := range k.Webhooks {
		if s.config.Webhooks[channel] == "" {
			s.webhooks[channel] = target
		}
	}
}

// seed enters what was restored into the ledger.
func (s *Sandbox) seed() {
	var sent []messagingtest.Sent
	for e := s.book.entries.Front(); e != nil; e = e.Next() {
		if entry, _ := e.Value.(*entry); entry.Sent != nil {
			sent = append(sent, *entry.Sent)
		}
	}
	s.service.Seed(sent...)
}

// records yields what the file has to hold. The caller holds mu.
func (s *Sandbox) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		if !yield(record{State: s.keptState()}) {
			return
		}
		for key, choice := range s.outcomes {
			if !yield(record{Delivery: &keptDelivery{key.channel, key.peer, choice.Name, choice.After}}) {
				return
			}
		}
		for at := s.book.entries.Front(); at != nil; at = at.Next() {
			e, _ := at.Value.(*entry)
			r := record{Sent: e.Sent, States: e.States}
			if e.Answer != nil {
				r = record{Answer: e.Answer, ID: e.ID, At: e.At}
			}
			if !yield(r) {
				return
			}
		}
	}
}

// keptState returns what is set. The caller holds mu.
func (s *Sandbox) keptState() *keptState {
	return &keptState{s.advanced, s.service.Balance(), s.duplicate, s.lag, maps.Clone(s.webhooks), s.form}
}

// storeState appends what is set. The caller holds mu.
func (s *Sandbox) storeState() { s.store(record{State: s.keptState()}) }

// store appends a record. The caller holds mu.
func (s *Sandbox) store(r record) {
	s.keep.append(r)
	if s.keep != nil && s.keep.size > maxFile {
		s.keep.fail(s.keep.compact(s.records()))
	}
}

func (j *journal) append(r record) {
	if j == nil || j.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		var n int
		n, err = j.file.Write(append(line, '\n'))
		j.size += int64(n)
	}
	j.fail(err)
}

// fail keeps the first error.
func (j *journal) fail(err error) {
	if j.err == nil {
		j.err = err
	}
}

// compact writes the file anew with these records: into a file beside it, which then takes its name.
func (j *journal) compact(records iter.Seq[record]) error {
	beside := j.file.Name() + ".new"
	_ = os.Remove(beside)                                                    // of a run that was killed
	next, err := os.OpenFile(beside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the file that the user named, and .new
	if err != nil {
		return err
	}
	fresh := &journal{file: next}
	for r := range records {
		fresh.append(r)
	}
	err = fresh.err
	if err == nil {
		err = next.Sync()
	}
	if err == nil {
		err = os.Rename(next.Name(), j.file.Name())
	}
	if err != nil {
		_ = next.Close()
		_ = os.Remove(next.Name())
		return err
	}
	name := j.file.Name()
	_ = j.file.Close()
	// Opened anew under its own name, so that compact finds it again.
	j.file, err = os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the user named it
	j.size = fresh.size
	_ = next.Close()
	return err
}

// close closes the file and returns the first error of the journal.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return cmp.Or(j.err, errors.Join(j.file.Close(), j.lock.Close()))
}
