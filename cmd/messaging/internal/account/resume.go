package account

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// resumeState is what is known of a listing that goes into a file: where the next page begins, and how much of the file is
// complete. It is in a file beside it, until the listing is complete. A page is first written and synced, and then recorded, so that
// a page that was cut short is written again.
type resumeState struct {
	Options       string    `json:"options"` // of the listing, which must not change
	CreatedAfter  time.Time `json:"createdAfter,omitzero"`
	CreatedBefore time.Time `json:"createdBefore,omitzero"`
	Next          string    `json:"next"`
	Bytes         int64     `json:"bytes"`
	Rows          int       `json:"rows"`
	Done          bool      `json:"-"` // there is nothing left to list
}

func statePath(out string) string { return out + ".resume" }

// fingerprint identifies the listing.
func (l *listing) fingerprint() string {
	options := &l.options
	data, _ := json.Marshal([]any{
		l.format, l.after, l.before, l.limit, options.ID, options.ReferenceID, options.RequestID,
		options.CategoryID, options.From, options.To, options.Status, options.SortBy, options.Descending,
	}) // cannot fail: texts, numbers and booleans
	return string(data)
}

// openOutput opens the file of a listing: a new one, or with --resume the one of an earlier listing, cut after its last complete page.
// The listing then continues from there.
func (l *listing) openOutput() (*os.File, *resumeState, error) {
	state := &resumeState{Options: l.fingerprint(), CreatedAfter: l.options.CreatedAfter, CreatedBefore: l.options.CreatedBefore}
	data, err := os.ReadFile(statePath(l.out))
	if !l.resume {
		if err == nil {
			return nil, nil, fmt.Errorf("--out %s: a listing into it was interrupted; go on with --resume, or remove %s", l.out, statePath(l.out))
		}
		return create(l.out, state)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = os.Stat(l.out); err != nil {
			return create(l.out, state)
		}
		return nil, &resumeState{Done: true}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, state)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %s cannot be read: %w", statePath(l.out), err)
	}
	if state.Options != l.fingerprint() {
		return nil, nil, errors.New("--resume: the listing was begun with other options")
	}
	file, err := os.OpenFile(l.out, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(file.Truncate(state.Bytes), seekTo(file, state.Bytes))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	l.options.CreatedAfter, l.options.CreatedBefore, l.options.After = state.CreatedAfter, state.CreatedBefore, state.Next
	return file, state, nil
}

// create makes a new file, which must not exist, and its record.
func create(out string, state *resumeState) (*os.File, *resumeState, error) {
	const private = 0o600                                                   // numbers and texts of people
	file, err := os.OpenFile(out, os.O_RDWR|os.O_CREATE|os.O_EXCL, private) //nolint:gosec // the user names it
	if err == nil {
		err = state.save(out, file, "")
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w; give another name, or go on with an interrupted listing by --resume", err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--out: %w", err)
	}
	return file, state, nil
}

func seekTo(file *os.File, at int64) error {
	_, err := file.Seek(at, io.SeekStart)
	return err
}

// save records that everything up to now is in the file, and where the next page begins.
func (s *resumeState) save(out string, file *os.File, next string) error {
	if err := file.Sync(); err != nil {
		return err
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	s.Next, s.Bytes = next, at
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := statePath(out)
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
	return err
}

// finish removes the record: the file is complete.
func finish(out string, file *os.File) error {
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Remove(statePath(out)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
