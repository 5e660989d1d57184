package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A record is a line of the file that keeps messages between runs. A later record of a message replaces the one before.
type record struct {
	Sent   *messagingtest.Sent `json:"sent,omitempty"`
	Answer *Answer             `json:"answer,omitempty"`
	ID     string              `json:"id,omitempty"` // of the answer
	At     time.Time           `json:"at,omitzero"`
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

// restore reads the file into the ledger and the book, and keeps what comes in it. A last line that was torn is cut off; any
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
		err = s.keep.compact(&s.book)
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
	if r.Answer != nil {
		return r.Sent == nil && r.ID != "" && r.Answer.check() == ""
	}
	if r.Sent == nil || r.Sent.ID == "" || channelName(r.Sent.Channel) == "" {
		return false
	}
	for _, value := range r.Sent.Extra {
		if !json.Valid(value) {
			return false
		}
	}
	return true
}

// replay enters a record, or replaces the one before.
func (s *Sandbox) replay(r record) {
	if r.Answer != nil {
		if s.book.byID[r.ID] == nil {
			s.add(&entry{ID: r.ID, Channel: r.Answer.Channel, Peer: r.Answer.From, At: r.At, Answer: r.Answer, seen: true})
		}
		return
	}
	if e := s.book.byID[r.Sent.ID]; e != nil {
		if e.Sent != nil {
			e.Sent = r.Sent
		}
		return
	}
	s.add(&entry{ID: r.Sent.ID, Channel: r.Sent.Channel, Peer: r.Sent.To, At: r.Sent.At, Sent: r.Sent, seen: true})
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

// store appends a record. The caller holds mu.
func (s *Sandbox) store(r record) {
	s.keep.append(r)
	if s.keep != nil && s.keep.size > maxFile {
		s.keep.fail(s.keep.compact(&s.book))
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

// compact writes the file anew with what the book holds: into a file beside it, which then takes its name.
func (j *journal) compact(b *book) error {
	beside := j.file.Name() + ".new"
	_ = os.Remove(beside)                                                    // of a run that was killed
	next, err := os.OpenFile(beside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the file that the user named, and .new
	if err != nil {
		return err
	}
	fresh := &journal{file: next}
	for e := b.entries.Front(); e != nil; e = e.Next() {
		entry, _ := e.Value.(*entry)
		if entry.Sent != nil {
			fresh.append(record{Sent: entry.Sent})
		} else {
			fresh.append(record{Answer: entry.Answer, ID: entry.ID, At: entry.At})
		}
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

// clear empties the file.
func (j *journal) clear() error {
	if j == nil {
		return nil
	}
	j.size = 0
	return j.file.Truncate(0)
}

// close closes the file and returns the first error of the journal.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return cmp.Or(j.err, errors.Join(j.file.Close(), j.lock.Close()))
}
