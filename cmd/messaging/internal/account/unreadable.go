package account

import (
	"errors"
	"fmt"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// unreadable counts the rows of a listing that could not be read in full.
type unreadable struct {
	Rows int  `json:"rows"`
	More bool `json:"more"` // there are more than Rows
}

// add counts the rows in the error of a page.
func (u *unreadable) add(pageErr error) {
	if pageErr == nil {
		return
	}
	rows := []error{pageErr}
	if joined, ok := pageErr.(interface{ Unwrap() []error }); ok {
		rows = joined.Unwrap()
	}
	for _, row := range rows {
		if errors.Is(row, messaging.ErrUnreadableRow) {
			u.Rows++
		} else {
			u.More = true // the library joins the first errors and the number of the rest
		}
	}
}

// err returns the error of a complete listing with such rows, or nil.
func (u *unreadable) err() error {
	if u.Rows == 0 {
		return nil
	}
	text := fmt.Sprintf("%d rows", u.Rows)
	if u.Rows == 1 {
		text = "1 row"
	}
	if u.More {
		text = "more than " + text
	}
	return &cli.ExitError{Status: cli.ExitRefused, Err: fmt.Errorf("%s could not be read in full", text)}
}
