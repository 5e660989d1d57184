package account

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// outputStage is how far a listing into the file of --out has come.
type outputStage int

const (
	stageFresh       outputStage = iota // no listing was begun, and no file with content exists
	stageInterrupted                    // a listing was begun and is not complete
	stageComplete                       // there is nothing to continue: the state says so, or a file with content has no state
)

// inspectOutput returns the stage of the file of --out, and its stored state. The state is nil if none is stored.
func (l *listing) inspectOutput() (outputStage, *resumeState, error) {
	file, err := os.Stat(l.out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, fmt.Errorf("--out: %w", err)
	}
	exists := err == nil
	state, err := readState(l.out)
	switch {
	case errors.Is(err, fs.ErrNotExist) && exists && file.Size() > 0:
		return stageComplete, nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return stageFresh, nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("--out: %s cannot be read: %w; remove it, and list into another file", statePath(l.out), err)
	case !state.Done:
		return stageInterrupted, state, nil
	case exists:
		return stageComplete, state, nil
	default: // the user removed the complete file, to list again
		return stageFresh, nil, nil
	}
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

// createdFrom returns the files that a listing creates when its output is at this stage. An empty file may exist before.
func (l *listing) createdFrom(stage outputStage) []string {
	if stage != stageFresh {
		return nil
	}
	created := []string{statePath(l.out)}
	if _, err := os.Lstat(l.out); errors.Is(err, fs.ErrNotExist) {
		created = append(created, l.out)
	}
	return created
}

// openOutput opens the file of --out, and returns it with the state of the listing: a new state, or with --resume the stored one of an
// interrupted listing.
func (l *listing) openOutput(stage outputStage, stored *resumeState) (*os.File, *resumeState, error) {
	switch {
	case l.resume && stage == stageFresh:
		state := l.newState()
		if err := state.store(l.out); err != nil {
			return nil, nil, fmt.Errorf("--resume: %w", err)
		}
		file, err := l.continueOutput(state)
		return file, state, err
	case l.resume:
		file, err := l.continueOutput(stored)
		return file, stored, err
	case stage == stageInterrupted:
		return nil, nil, fmt.Errorf("--out %s: a listing into it was interrupted; continue with --resume, or remove %s", l.out, statePath(l.out))
	case !l.isResumable():
		file, err := createTable(l.out)
		return file, &resumeState{}, err
	default:
		state := l.newState()
		file, err := createResumable(l.out, state)
		return file, state, err
	}
}

// continueOutput opens the file of a listing that has a state, truncates it after its last complete page, and sets the options that continue it.
func (l *listing) continueOutput(state *resumeState) (*os.File, error) {
	if err := state.checkSame(l); err != nil {
		return nil, err
	}
	mode := os.O_RDWR
	if state.Bytes == 0 {
		mode |= os.O_CREATE // the listing was interrupted between its state and its file
	}
	file, err := os.OpenFile(l.out, mode, ownerOnly)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--resume: %w; remove %s to begin again", err, statePath(l.out))
	}
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	if err = truncate(file, state.Bytes); err != nil {
		return nil, errors.Join(fmt.Errorf("--resume: %w", err), file.Close())
	}
	l.options.CreatedAfter = state.CreatedAfter
	l.options.CreatedBefore = state.CreatedBefore
	l.options.After = state.Next
	return file, nil
}

// createResumable stores the state and creates a file, which must not exist. The state comes first: if the command is killed in between, --resume
// finds a listing to continue, and no empty file that looks complete.
func createResumable(out string, state *resumeState) (*os.File, error) {
	if _, err := os.Lstat(out); err == nil {
		return nil, outputExists(&fs.PathError{Op: "open", Path: out, Err: fs.ErrExist})
	}
	if err := state.store(out); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	file, err := createFile(out)
	if err == nil {
		return file, nil
	}
	_ = os.Remove(statePath(out)) // it would block the next run
	if errors.Is(err, fs.ErrExist) {
		return nil, outputExists(err)
	}
	return nil, fmt.Errorf("--out: %w", err)
}

func outputExists(err error) error {
	return fmt.Errorf("--out: %w; give another name, or continue an interrupted listing with --resume", err)
}

// createTable creates the file of a table, which must not exist. It removes the state of a complete listing whose file was removed.
func createTable(out string) (*os.File, error) {
	file, err := createFile(out)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("--out: %w; give another name", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	if err := remove(statePath(out)); err != nil {
		return nil, errors.Join(fmt.Errorf("--out: %w", err), file.Close())
	}
	return file, nil
}
