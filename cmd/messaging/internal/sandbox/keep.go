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

// A record is a line of the file that keeps messages and settings between runs. A later record of a message replaces the one before.
type record struct {
	Token   string              `json:"token,omitempty"` // of the service
	Sent    *messagingtest.Sent `json:"sent,omitempty"`
	States  []Reached           `json:"states,omitempty"`  // of the message
	Balance string              `json:"balance,omitempty"` // after the message

	Answer *Answer   `json:"answer,omitempty"`
	ID     string    `json:"id,omitempty"` // of the answer
	At     time.Time `json:"at,omitzero"`

	Removed string          `json:"removed,omitempty"` // the ID of a message or an answer
	Do      string          `json:"do,omitempty"`      // an operation of the API
	With    json.RawMessage `json:"with,omitempty"`    // its body
}

// maxFile is the size at which the file is written anew, with what is still there, and twice what can be read.
const maxFile = 512 << 20

// journal appends records to a file. A nil journal keeps nothing. The sandbox's mutex guards it.
type journal struct {
	name string
	file *os.File
	lock *os.File // beside it, as long as the sandbox runs
	size int64
	err  error // the first
}

var errKept = errors.New("another sandbox keeps its messages there")

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

// restore reads the file into the ledger, the book and the settings, writes it anew, and keeps what comes in it. A last line that was
// torn is left out; any other that is wrong is an error, which names the line. A file that another sandbox keeps is refused.
func (s *Sandbox) restore(name string) error {
	keep := &journal{name: name}
	var err error
	// The lock has a file of its own, because compact renames another file to that name. It comes first: what is opened before
	// may be a file that the sandbox which has the lock is about to replace.
	keep.lock, err = os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the user names it
	if err == nil {
		err = lock(keep.lock)
	}
	if err == nil {
		keep.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the same
	}
	if err == nil {
		err = s.readAll(keep.file)
	}
	if err == nil {
		maps.Copy(s.set.Webhooks, s.config.Webhooks) // what the command line names stays
		s.seed()
		s.journal = keep
		err = keep.compact(s.records())
	}
	if err != nil {
		_ = keep.close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (s *Sandbox) readAll(file *os.File) error {
	if info, err := file.Stat(); err != nil || info.Size() > 2*maxFile || !info.Mode().IsRegular() {
		return cmp.Or(err, errors.New("not a regular file of up to 1 GiB"))
	}
	r := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what is left has no end: it was torn
			return nil
		}
		if err != nil {
			return err
		}
		var rec record
		if json.Unmarshal(line, &rec) != nil || s.enter(rec) != nil {
			return fmt.Errorf("line %d is not a message of a sandbox", number)
		}
	}
}

// enter enters a record, or replaces the one before.
func (s *Sandbox) enter(r record) error {
	switch {
	case r.Token != "":
	case r.Do == "POST deliveries" || r.Do == "POST clock" || r.Do == "PATCH settings":
		_, err := operations()[r.Do](s, &request{body: r.With})
		return err
	case r.Removed != "":
		s.remove(r.Removed)
	case r.Answer != nil && r.Sent == nil && r.ID != "" && r.Answer.check() == "":
		if s.book.byID[r.ID] == nil {
			s.book.add(newAnswer(r.ID, r.Answer, r.At))
		}
	case r.Sent != nil && r.Sent.ID != "" && channelName(r.Sent.Channel) != "" && (r.Balance == "" || isBalance(r.Balance)):
		e := s.book.byID[r.Sent.ID]
		if e == nil {
			e = newEntry(r.Sent, s.table, s.mask)
			e.seen, e.restored = true, true
			s.book.add(e)
		}
		e.Sent, e.States = r.Sent, r.States
		s.book.resize(e)
		if r.Balance != "" {
			s.service.SetBalance(r.Balance)
		}
	default:
		return errors.New("no record")
	}
	return nil
}

// seed enters what was restored into the ledger.
func (s *Sandbox) seed() {
	var sent []messagingtest.Sent
	for _, entry := range s.book.entries {
		switch {
		case entry.Sent != nil:
			sent = append(sent, *entry.Sent)
		case s.now().Sub(entry.At) < chatWindow:
			s.tell(entry.Answer.callback(entry.ID, entry.At))
		}
	}
	s.service.Seed(sent...)
}

// records yields what the file has to hold. The caller holds mu.
func (s *Sandbox) records() iter.Seq[record] {
	return func(yield func(record) bool) {
		ok := yield(record{Token: s.config.Token}) && yield(command("PATCH settings", s.current()))
		if s.advanced > 0 {
			ok = ok && yield(command("POST clock", clockBody{Advance: s.advanced.String()}))
		}
		for key, delivery := range s.outcomes {
			delivery.Channel = key.channel
			ok = ok && yield(command("POST deliveries", delivery))
		}
		for _, e := range s.book.entries {
			r := record{Sent: e.Sent, States: e.States}
			if e.Answer != nil {
				r = record{Answer: e.Answer, ID: e.ID, At: e.At}
			}
			ok = ok && yield(r)
		}
	}
}

// command returns the record of an operation of the API.
func command(operation string, body any) record {
	with, _ := json.Marshal(body) // plain values
	return record{Do: operation, With: with}
}

// note appends an operation of the API, by which the next run restores what it did. The caller holds mu.
func (s *Sandbox) note(operation string, body any) { s.store(command(operation, body)) }

// store appends a record. The caller holds mu.
func (s *Sandbox) store(r record) {
	if s.journal == nil {
		return
	}
	s.journal.append(r)
	if s.journal.size > maxFile {
		s.journal.fail(s.journal.compact(s.records()))
	}
}

func (j *journal) append(r record) {
	if j.err != nil {
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
	beside := j.name + ".new"
	_ = os.Remove(beside)                                                    // of a run that was killed
	next, err := os.OpenFile(beside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the file that the user named, and .new
	if err != nil {
		return err
	}
	fresh := &journal{file: next}
	for r := range records {
		fresh.append(r)
	}
	fresh.fail(next.Sync())
	if fresh.err == nil {
		fresh.err = os.Rename(beside, j.name)
	}
	if fresh.err != nil {
		_ = next.Close()
		return errors.Join(fresh.err, os.Remove(beside))
	}
	_ = j.file.Close()
	j.file, j.size = next, fresh.size
	return nil
}

// close closes the file and returns the first error of the journal.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	err := j.file.Close()
	unlock(j.lock)
	return cmp.Or(j.err, errors.Join(err, j.lock.Close()))
}
