package account

import (
	"encoding/json"
	"fmt"
	"io"
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

// statePath returns the path of the file with the state of a listing into the file out.
func statePath(out string) string { return out + ".resume" }

// newState returns the state of a listing that has written nothing.
func (l *listing) newState() *resumeState {
	return &resumeState{
		Account:       os.Getenv("MESSAGING_BASE_URL"),
		Flags:         l.chosenFlags(),
		CreatedAfter:  l.options.CreatedAfter,
		CreatedBefore: l.options.CreatedBefore,
	}
}

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
		before := s.Flags[name]
		now := flags[name]
		switch {
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

// readState reads the state of a listing into a file. If there is none, the error matches fs.ErrNotExist.
func readState(out string) (*resumeState, error) {
	data, err := os.ReadFile(statePath(out))
	if err != nil {
		return nil, err
	}
	state := &resumeState{}
	return state, json.Unmarshal(data, state)
}

// store writes the state into its file.
func (s *resumeState) store(out string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(statePath(out), data)
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

// complete syncs the complete file, and removes the state unless rows could not be read.
func (s *resumeState) complete(out string, file *os.File) error {
	if s.Unreadable > 0 {
		s.Done = true
		return s.save(out, file, "")
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return removeAll([]string{statePath(out), newPath(statePath(out))})
}
