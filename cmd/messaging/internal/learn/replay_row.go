package learn

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

func (r replay) replayRow(example *Example) error {
	body := example.text
	if r.overlay.List.Items == nil {
		body = "[" + body + "]" // one row alone
	}
	s := &stub{status: http.StatusOK, body: body}
	client, err := s.client(r.overlay.forReading(r.names))
	if err != nil {
		return example.errorf("%w", err)
	}
	rows, err := firstRows(client)
	if len(rows) == 0 {
		return example.errorf("no row is read: %w", cmp.Or(err, errors.New("the listing is empty")))
	}
	r.overlay.noteTime(rows)
	return compareRow(example, rows)
}

// firstRows returns the rows of the first page of a listing, with an error if some of them could not be read in full.
func firstRows(client *messaging.Client) ([]sms.Transaction, error) {
	next, stop := iter.Pull2(client.SMS.Pages(context.Background(), sms.ListOptions{}))
	defer stop()
	page, err, _ := next()
	return page.Transactions, err
}

// compareRow compares the row of the example with the transaction that was read.
func compareRow(example *Example, rows []sms.Transaction) error {
	isExample := func(tx sms.Transaction) bool { return example.isSame(tx.ID, tx.ReferenceID) }
	i := slices.IndexFunc(rows, isExample)
	if i < 0 {
		return example.errorf("no row is read with that ID or reference")
	}
	tx := rows[i]
	problems := compare(example, map[string]string{
		"reference": tx.ReferenceID, "request": tx.RequestID, "category": tx.CategoryID, "from": tx.From, "to": tx.To, "text": tx.Text,
		"sendStatus": tx.SendStatus, "currency": tx.Currency, "operator": tx.Operator, "country": tx.Country, "description": tx.Description,
	})
	meaning := example.values["means"]
	if example.values["status"] != "" && tx.Status.String() != meaning {
		problems = append(problems, example.errorf("got the status %s, want %s", tx.Status, meaning))
	}
	problems = append(problems, checkRead(example, tx)...)
	return errors.Join(problems...)
}

// checkRead returns an error for each time, price and number of parts of the example that was not read.
func checkRead(example *Example, tx sms.Transaction) []error {
	const layout = "the time %q has a layout that the default contract does not read: remove the line %s:, and write sms.list.layouts"
	var problems []error
	if text := example.values["created"]; text != "" && tx.CreatedAt.IsZero() {
		problems = append(problems, example.errorf(layout, text, "created"))
	}
	if text := example.values["sent"]; text != "" && tx.SentAt.IsZero() {
		problems = append(problems, example.errorf(layout, text, "sent"))
	}
	if text := example.values["price"]; text != "" && tx.Price == "" {
		problems = append(problems, example.errorf("price: %q is no decimal number: remove the line price:", text))
	}
	if text := example.values["parts"]; strings.Trim(text, "0") != "" && tx.Parts == 0 {
		problems = append(problems, example.errorf("parts: %q is no whole number: remove the line parts:", text))
	}
	return problems
}
