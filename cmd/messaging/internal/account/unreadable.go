package account

import (
	"errors"
	"fmt"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// readErrors returns the errors of the rows that could not be read in full.
func readErrors(rows []sms.Transaction) []error {
	var errs []error
	for _, tx := range rows {
		if tx.ReadError != nil {
			errs = append(errs, tx.ReadError)
		}
	}
	return errs
}

// complain prints the errors of a page: the first 20 of them, and the number of the rest.
func complain(console cli.Console, errs []error) {
	const most = 20
	shown := errs[:min(len(errs), most)]
	for _, err := range shown {
		console.Complain(err)
	}
	if rest := len(errs) - len(shown); rest > 0 {
		console.Note(fmt.Sprintf("%d more rows of the page cannot be read", rest))
	}
}

// unreadableError returns the error of a complete listing with so many rows that could not be read in full, or nil for 0.
func unreadableError(rows int) error {
	if rows == 0 {
		return nil
	}
	text := fmt.Sprintf("%d rows could not be read in full", rows)
	if rows == 1 {
		text = "1 row could not be read in full"
	}
	return &cli.ExitError{Status: cli.ExitRefused, Err: errors.New(text)}
}
