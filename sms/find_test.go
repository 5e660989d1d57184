package sms

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// referenced makes pages of rows with these reference IDs, a row per page. The ID of each is its place.
func referenced(references ...string) []wire.Page {
	var pages []wire.Page
	for i, reference := range references {
		pages = append(pages, wire.Page{
			Records: []wire.Record{{ID: string(rune('a' + i)), ReferenceID: reference}}, Last: i == len(references)-1,
		})
	}
	return pages
}

var nothing = []wire.Page{{Last: true}}

func TestFindGivesTheRowWithTheReferenceOverAllPages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pages []wire.Page
		id    string
		calls int
	}{
		"on the first page":     {referenced("r-1"), "a", 1},
		"on the last page":      {referenced("r-2", "r-3", "r-1"), "c", 3},
		"the first of several":  {referenced("r-2", "r-1", "r-1"), "b", 2},
		"behind an empty one":   {referenced("", "r-1"), "b", 2},
		"behind one that seems": {referenced("R-1", "r-10", " r-1", "r-1"), "d", 4},
	} {
		b := newBook(tt.pages)
		tx, err := NewService(b).Find(t.Context(), "r-1")
		require.NoError(t, err, name)
		assert.Equal(t, Transaction{ID: tt.id, ReferenceID: "r-1"}, tx, name)
		assert.Len(t, b.asked, tt.calls, name)
		for _, q := range b.asked {
			assert.Equal(t, &filter{ReferenceID: "r-1"}, q.Filter, name)
		}
	}
}

// The root makes an ErrNotFound of it; the other way round it would not do: an HTTP 404 is one too, and says nothing of a message.
func TestFindSaysThatNothingIsListed(t *testing.T) {
	t.Parallel()
	for name, pages := range map[string][]wire.Page{"one page": nothing, "two pages": {{}, {Last: true}}} {
		tx, err := NewService(newBook(pages)).Find(t.Context(), "r-1")
		require.ErrorIs(t, err, wire.ErrNotListed, name)
		require.NotErrorIs(t, err, wire.ErrFilterIgnored, name)
		assert.Equal(t, Transaction{}, tx, name)
	}
}

func TestOtherRowsSayNothingOfAMessage(t *testing.T) {
	t.Parallel()
	for name, pages := range map[string][]wire.Page{
		"another's":       referenced("r-2"),
		"many others'":    referenced("r-2", "r-3", "r-4"),
		"no reference":    referenced(""),
		"almost the same": referenced("R-1", "r-1 ", "r-10"),
		"then none":       append(slices.Clone(referenced("r-2")[:1]), wire.Page{Last: true}),
	} {
		pages[0].Last = len(pages) == 1
		tx, err := NewService(newBook(pages)).Find(t.Context(), "r-1")
		require.ErrorIs(t, err, wire.ErrFilterIgnored, name)
		require.NotErrorIs(t, err, wire.ErrNotListed, name)
		require.ErrorContains(t, err, "does not filter", name)
		require.ErrorContains(t, err, "sms.list.params.reference", name)
		assert.Equal(t, Transaction{}, tx, name)
	}
}

func TestFindNeedsAReference(t *testing.T) {
	t.Parallel()
	b := newBook(referenced(""))
	_, err := NewService(b).Find(t.Context(), "")
	var refused refusal
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, []string{"referenceID"}, refused.fields())
	assert.Empty(t, b.asked, "a row without a reference would be found")
}

func TestFindPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, after := range map[string]int{"at once": 1, "behind other rows": 2} {
		b := newBook(referenced("r-2", "r-1"))
		b.before = func(_ context.Context, number int) error {
			if number >= after {
				return broken
			}
			return nil
		}
		_, err := NewService(b).Find(t.Context(), "r-1")
		assert.Equal(t, broken, err, name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewService(newBook(referenced("r-1"))).Find(ctx, "r-1")
	require.ErrorIs(t, err, context.Canceled)
}

func TestFindAmongRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	unread := []wire.Unread{{Index: 0, Reason: "parts is in no form that is known"}}
	for name, tt := range map[string]struct {
		pages []wire.Page
		id    string
		says  string
	}{
		"the row itself":       {pages: referenced("r-1"), id: "a"},
		"a row before it":      {pages: referenced("", "r-1"), id: "b"},
		"nothing else":         {pages: referenced(""), says: "row 0 of the page cannot be read"},
		"other rows behind it": {pages: referenced("", "r-2"), says: "does not filter"},
	} {
		tt.pages[0].Unread = unread
		tx, err := NewService(newBook(tt.pages)).Find(t.Context(), "r-1")
		assert.Equal(t, tt.id, tx.ID, name)
		if tt.id != "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, tt.says, name)
		require.NotErrorIs(t, err, wire.ErrNotListed, name)
	}
}
