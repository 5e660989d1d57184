package sandbox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A record is a line of the file of --keep, with one of these contents. A later record of a message replaces the earlier one.
type record struct {
	Token string `json:"token,omitempty"` // of the service

	Sent    *messagingtest.Sent `json:"sent,omitempty"`
	States  []Reached           `json:"states,omitempty"`  // of the message
	Balance string              `json:"balance,omitempty"` // after the message

	Answer *Answer   `json:"answer,omitempty"`
	ID     string    `json:"id,omitempty"` // of the answer
	At     time.Time `json:"at,omitzero"`

	Settings *Settings     `json:"settings,omitempty"`
	Delivery *deliveryBody `json:"delivery,omitempty"`
	Advance  time.Duration `json:"advance,omitempty"` // of the clock
}

// journal appends records to the file of --keep. A nil journal stores nothing. The sandbox's mutex guards it.
type journal struct {
	name string
	file *os.File
	lock *os.File // a file of its own, because rewrite replaces the file
	err  error    // the first one
}

var errLocked = errors.New("another sandbox keeps its messages there")

// keptToken returns the token of the service in the file of an earlier run, or "".
func keptToken(name string) string {
	file, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	var first record
	_ = json.NewDecoder(file).Decode(&first)
	return first.Token
}

// openJournal opens and locks a file. It fails if another sandbox has locked it.
func openJournal(name string) (_ *journal, err error) {
	const ownerOnly = 0o600
	j := &journal{name: name}
	defer func() {
		if err != nil {
			_ = j.close()
		}
	}()
	// The lock comes first: a file opened before could be one that the other sandbox is about to replace.
	if j.lock, err = os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, ownerOnly); err != nil { //nolint:gosec // the user names it
		return nil, err
	}
	if err = lock(j.lock); err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, ownerOnly); err != nil { //nolint:gosec // the same
		return nil, err
	}
	info, err := j.file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return j, nil
}

// restore enters the records of a file, rewrites the file, and appends to it from then on.
func (s *Sandbox) restore(name string) error {
	j, err := openJournal(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	err = s.readAll(j.file)
	if err == nil {
		maps.Copy(s.set.Webhooks, s.config.Webhooks) // the command line comes before the file
		s.seed()
		err = j.rewrite(s.records())
	}
	if err != nil {
		_ = j.close()
		return fmt.Errorf("%s: %w", name, err)
	}
	s.journal = j
	return nil
}

// readAll enters the records of a file. It ignores a last line without an end, which a kill left behind. Any other wrong line is an error.
func (s *Sandbox) readAll(file io.Reader) error {
	reader := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var r record
		if json.Unmarshal(line, &r) != nil || s.restoreRecord(r) != nil {
			return fmt.Errorf("line %d is not a record of a sandbox", number)
		}
	}
}

var errRecord = errors.New("invalid record")

// restoreRecord enters a record.
func (s *Sandbox) restoreRecord(r record) error {
	switch {
	case r.Token != "":
		return nil
	case r.Sent != nil:
		return s.restoreMessage(r)
	case r.Answer != nil:
		return s.restoreAnswer(r)
	case r.Settings != nil:
		return s.apply(*r.Settings)
	case r.Delivery != nil:
		outcome, err := r.Delivery.outcome()
		if err != nil {
			return err
		}
		return s.setDelivery(*r.Delivery, outcome)
	case r.Advance > 0 && r.Advance <= maxAdvance-s.advanced:
		s.advance(r.Advance)
		return nil
	}
	return errRecord
}

func (s *Sandbox) restoreMessage(r record) error {
	isValid := r.Sent.ID != "" && channelName(r.Sent.Channel) != ""
	if !isValid || r.Balance != "" && !isBalance(r.Balance) {
		return errRecord
	}
	e := s.book.byID[r.Sent.ID]
	if e == nil {
		e = newEntry(r.Sent, s.table, s.mask)
		e.restored = true
		s.book.add(e)
	}
	e.Sent = r.Sent
	e.States = r.States
	s.book.resize(e)
	if r.Balance != "" {
		s.service.SetBalance(r.Balance)
	}
	return nil
}

func (s *Sandbox) restoreAnswer(r record) error {
	if r.ID == "" {
		return errRecord
	}
	if err := r.Answer.validate(); err != nil {
		return err
	}
	if s.book.byID[r.ID] == nil {
		s.book.add(newAnswer(r.ID, r.Answer, r.At))
	}
	return nil
}

// seed enters the restored messages in the ledger, and answers that keep a 24-hour window open.
func (s *Sandbox) seed() {
	var sent []messagingtest.Sent
	for _, e := range s.book.entries {
		switch {
		case e.Sent != nil:
			sent = append(sent, *e.Sent)
		case s.now().Sub(e.At) < chatWindow:
			s.recordInbound(e)
		}
	}
	s.service.Seed(sent...)
}

// records yields the contents of the file. The caller holds mu.
func (s *Sandbox) records() iter.Seq[record] {
	current := s.currentSettings()
	records := []record{{Token: s.config.Token}, {Settings: &current}}
	if s.advanced > 0 {
		records = append(records, record{Advance: s.advanced})
	}
	for key, delivery := range s.deliveries {
		delivery.Channel = key.channel
		records = append(records, record{Delivery: &delivery})
	}
	return func(yield func(record) bool) {
		for _, r := range records {
			if !yield(r) {
				return
			}
		}
		for _, e := range s.book.entries {
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

// store appends a record to the file, if there is one. The caller holds mu.
func (s *Sandbox) store(r record) {
	if s.journal != nil {
		s.journal.append(r)
	}
}

// append appends a record. After an error it does nothing.
func (j *journal) append(r record) {
	if j.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	j.err = err
}

// rewrite replaces the file with one that has these records.
func (j *journal) rewrite(records iter.Seq[record]) error {
	const ownerOnly = 0o600
	temporary := j.name + ".new"
	_ = os.Remove(temporary)                                                        // left behind by a kill
	file, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly) //nolint:gosec // the user's file, and .new
	if err != nil {
		return err
	}
	next := &journal{file: file}
	for r := range records {
		next.append(r)
	}
	err = cmp.Or(next.err, file.Sync())
	if err == nil {
		err = os.Rename(temporary, j.name)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(temporary))
	}
	_ = j.file.Close()
	j.file = file
	return nil
}

// close closes the file and returns the first error of the journal.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := j.err
	if j.file != nil {
		err = cmp.Or(err, j.file.Close())
	}
	if j.lock != nil {
		unlock(j.lock)
		err = cmp.Or(err, j.lock.Close())
	}
	return err
}
