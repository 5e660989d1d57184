package account

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// resumeState is the progress of a listing into a file. A second file stores it until the listing is complete, and after that if some rows
// could not be read, because --resume exits with the status of the listing. Each page is written and synced before the state is, so that an
// incomplete page is written again.
type resumeState struct {
	Account       string            `json:"account"` // the base URL
	Flags         map[string]string `json:"flags"`   // that choose the rows and their form; they must not change
	CreatedAfter  time.Time         `json:"createdAfter,omitzero"`
	CreatedBefore time.Time         `json:"createdBefore,omitzero"`
	Next          string            `json:"next"`  // the cursor of the next page
	Bytes         int64             `json:"bytes"` // of complete pages in the file
	Rows          int               `json:"rows"`
	Done          bool              `json:"done,omitzero"` // the file is complete

	Unreadable int `json:"unreadableRows,omitzero"` // of the rows in the file
}

func statePath(out string) string { return out + ".resume" }

// chosenFlags returns the flags that choose the rows of the listing and their form, with their values as texts.
func (l *listing) chosenFlags() map[string]string {
	options := &l.options
	return map[string]string{
		"--format":     l.format,
		"--after":      l.after,
		"--before":     l.before,
		"--limit":      strconv.Itoa(l.limit),
		"--id":         options.ID,
		"--reference":  options.ReferenceID,
		"--request":    options.RequestID,
		"--category":   options.CategoryID,
		"--from":       options.From,
		"--to":         options.To,
		"--status":     options.Status,
		"--sort":       options.SortBy,
		"--descending": strconv.FormatBool(options.Descending),
		"--page-size":  strconv.Itoa(options.PageSize),
	}
}

// checkSame returns an error if the listing differs from the one in the file. It shows no number.
func (s *resumeState) checkSame(l *listing) error {
	if account := os.Getenv("MESSAGING_BASE_URL"); account != s.Account {
		return fmt.Errorf("--resume: the listing in the file is of %s, and MESSAGING_BASE_URL is %s", s.Account, account)
	}
	flags := l.chosenFlags()
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		switch before, now := s.Flags[name], flags[name]; {
		case now == before:
		case name == "--to":
			problems = append(problems, "another --to")
		default:
			problems = append(problems, fmt.Sprintf("%s %q, not %q", name, before, now))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("--resume: the listing in the file had %s; repeat its flags, or list into another file", strings.Join(problems, ", and "))
}

// outputStatus is how far the listing into a file has come.
type outputStatus int

const (
	statusFresh       outputStatus = iota // no listing was begun, and no file with content exists
	statusInterrupted                     // a listing was begun and is not complete
	statusComplete                        // there is nothing to continue: the state says so, or a file with content has no state
)

// outputFile returns the status and the state of the file of --out. The state is nil if none is stored.
func (l *listing) outputFile() (outputStatus, *resumeState, error) {
	file, err := os.Stat(l.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, fmt.Errorf("--out: %w", err)
	}
	exists := err == nil
	state, err := readState(l.out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists && file.Size() > 0:
		return statusComplete, nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return statusFresh, nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("--out: %s cannot be read: %w; remove it, and list into another file", statePath(l.out), err)
	case !state.Done:
		return statusInterrupted, state, nil
	case exists:
		return statusComplete, state, nil
	default: // the user removed the complete file, to list again
		return statusFresh, nil, nil
	}
}

// createdFrom returns the files that a listing creates when its output has this status. An empty file may exist before.
func (l *listing) createdFrom(status outputStatus) []string {
	if status != statusFresh {
		return nil
	}
	created := []string{statePath(l.out)}
	if _, err := os.Lstat(l.out); errors.Is(err, fs.ErrNotExist) {
		created = append(created, l.out)
	}
	return created
}

// openOutput opens the file of a listing: a new one, or with --resume the file of an interrupted listing.
func (l *listing) openOutput(status outputStatus, state *resumeState) (*os.File, *resumeState, error) {
	if l.resume {
		return l.resumeOutput(status, state)
	}
	if status == statusInterrupted {
		return nil, nil, fmt.Errorf("--out %s: a listing into it was interrupted; continue with --resume, or remove %s", l.out, statePath(l.out))
	}
	if !l.isResumable() {
		return createTable(l.out)
	}
	return create(l.out, l.newState())
}

func (l *listing) newState() *resumeState {
	return &resumeState{
		Account:       os.Getenv("MESSAGING_BASE_URL"),
		Flags:         l.chosenFlags(),
		CreatedAfter:  l.options.CreatedAfter,
		CreatedBefore: l.options.CreatedBefore,
	}
}

// resumeOutput opens the file of --out to begin or continue its listing.
func (l *listing) resumeOutput(status outputStatus, state *resumeState) (*os.File, *resumeState, error) {
	if status == statusFresh {
		state = l.newState()
		if err := state.store(l.out); err != nil {
			return nil, nil, fmt.Errorf("--resume: %w", err)
		}
	}
	return l.continueOutput(state)
}

// endComplete ends --resume of a complete listing with the status of that listing. The state is nil if all rows could be read.
func (l *listing) endComplete(state *resumeState) error {
	var err error
	unreadable := 0
	if state == nil {
		err = l.checkIsListing()
	} else {
		err = state.checkSame(l)
		unreadable = state.Unreadable
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(l.console.Err, "%s: the listing is complete, and nothing was requested; to list again, remove the file or give another --out\n", l.out)
	return unreadableError(unreadable)
}

// checkIsListing returns an error unless the file of --out begins as a listing in the format of --format does.
func (l *listing) checkIsListing() error {
	file, err := os.Open(l.out)
	if err != nil {
		return fmt.Errorf("--resume: %w", err)
	}
	defer func() { _ = file.Close() }()
	const maxLine = 1 << 20
	firstLine, err := bufio.NewReader(io.LimitReader(file, maxLine)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("--resume: %w", err)
	}
	if !beginsListing(l.format, firstLine) {
		return fmt.Errorf("--resume: %s is not a listing in %s, and there is no %s to continue from; give another --out",
			l.out, l.format, statePath(l.out))
	}
	return nil
}

// continueOutput opens the file of an interrupted listing, truncates it after its last complete page, and sets the options that continue it.
func (l *listing) continueOutput(state *resumeState) (*os.File, *resumeState, error) {
	if err := state.checkSame(l); err != nil {
		return nil, nil, err
	}
	mode := os.O_RDWR
	if state.Bytes == 0 {
		mode |= os.O_CREATE // the listing was interrupted between its state and its file
	}
	file, err := os.OpenFile(l.out, mode, ownerOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("--resume: %w; remove %s to begin again", err, statePath(l.out))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	if err = truncate(file, state.Bytes); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--resume: %w", err), file.Close())
	}
	l.options.CreatedAfter = state.CreatedAfter
	l.options.CreatedBefore = state.CreatedBefore
	l.options.After = state.Next
	return file, state, nil
}

// readState reads the state of a listing into a file. If there is none, the error matches fs.ErrNotExist.
func readState(out string) (*resumeState, error) {
	data, err := os.ReadFile(statePath(out))
	if err != nil {
		return nil, err
	}
	state := &resumeState{}
	return state, json.Unmarshal(data, state)
}

// truncate truncates a file and moves to its new end. A file that is shorter already is an error: it has lost rows.
func truncate(file *os.File, size int64) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		return fmt.Errorf("%s has %d bytes, of %d that were written; remove it and %s to begin again",
			file.Name(), info.Size(), size, statePath(file.Name()))
	}
	if err = file.Truncate(size); err != nil {
		return err
	}
	_, err = file.Seek(size, io.SeekStart)
	return err
}

// ownerOnly is the mode of the files of a listing, which hold phone numbers and texts.
const ownerOnly = 0o600

// create stores the state and creates a file, which must not exist. The state comes first: if the command is killed in between, --resume
// finds a listing to continue, and no empty file that looks complete.
func create(out string, state *resumeState) (*os.File, *resumeState, error) {
	if _, err := os.Lstat(out); err == nil {
		return nil, nil, outputExists(&fs.PathError{Op: "open", Path: out, Err: fs.ErrExist})
	}
	if err := state.store(out); err != nil {
		return nil, nil, fmt.Errorf("--out: %w", err)
	}
	file, err := createFile(out)
	if err == nil {
		return file, state, nil
	}
	_ = os.Remove(statePath(out)) // it would block the next run
	if errors.Is(err, fs.ErrExist) {
		return nil, nil, outputExists(err)
	}
	return nil, nil, fmt.Errorf("--out: %w", err)
}

// createTable creates the file of a table, which must not exist. It removes the state of a complete listing whose file was removed.
func createTable(out string) (*os.File, *resumeState, error) {
	file, err := createFile(out)
	if errors.Is(err, fs.ErrExist) {
		return nil, nil, fmt.Errorf("--out: %w; give another name", err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--out: %w", err)
	}
	if err := remove(statePath(out)); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--out: %w", err), file.Close())
	}
	return file, &resumeState{}, nil
}

// createFile creates a file, which must not exist.
func createFile(out string) (*os.File, error) {
	return os.OpenFile(out, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly) //nolint:gosec // the user names it
}

func outputExists(err error) error {
	return fmt.Errorf("--out: %w; give another name, or continue an interrupted listing with --resume", err)
}

// save syncs the file and stores its size and the cursor of the next page.
func (s *resumeState) save(out string, file *os.File, next string) error {
	if err := file.Sync(); err != nil {
		return err
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	s.Next = next
	s.Bytes = at
	return s.store(out)
}

// store writes the state into its file.
func (s *resumeState) store(out string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(statePath(out), data)
}

// newPath returns the path of a file that is to replace another.
func newPath(path string) string { return path + ".new" }

// remove removes a file if there is one.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaceFile replaces a file in one step, so that a crash leaves the old or the new one. A new file that an earlier crash left is removed.
func replaceFile(path string, data []byte) error {
	name := newPath(path)
	if err := remove(name); err != nil {
		return err
	}
	temporary, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownerOnly) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	if err = writeSynced(temporary, data); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if err = os.Rename(name, path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// writeSynced writes a file, syncs it, and closes it.
func writeSynced(file *os.File, data []byte) error {
	_, writeErr := file.Write(data)
	syncErr := file.Sync()
	closeErr := file.Close()
	return errors.Join(writeErr, syncErr, closeErr)
}

// finish syncs the complete file, and removes the state unless rows could not be read.
func (s *resumeState) finish(out string, file *os.File) error {
	if s.Unreadable > 0 {
		s.Done = true
		return s.save(out, file, "")
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return errors.Join(remove(statePath(out)), remove(newPath(statePath(out))))
}
