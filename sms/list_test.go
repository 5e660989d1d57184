package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// book is a listing in memory, by pages, and writes down what it is asked. A call under a context that has ended does not
// count: nothing leaves the machine then.
type book struct {
	wire.Doer // what a test does not need

	pages      []wire.Page
	first      int                                         // the number of the first page
	unnumbered bool                                        // the contract does not page by number
	before     func(ctx context.Context, number int) error // what happens before a page is answered; nil: nothing

	mu    sync.Mutex
	asked []wire.Query
	under int // calls under way
	most  int // calls that were under way at once
}

func (b *book) List(ctx context.Context, q wire.Query) (wire.Page, error) {
	if err := ctx.Err(); err != nil {
		return wire.Page{}, err
	}
	if len(q.Problems) > 0 {
		return wire.Page{}, b.Refuse(q.Op, q.Problems)
	}
	b.begins(q)
	defer b.ends()
	for i := range q.Reuse { // the memory is the Doer's now
		q.Reuse[i] = wire.Record{ID: "written over"}
	}
	number := b.number(q.At)
	if b.before != nil {
		if err := b.before(ctx, number); err != nil {
			return wire.Page{}, err
		}
	}
	index := number - b.first
	if index >= len(b.pages) {
		return wire.Page{Last: true}, nil
	}
	page := b.pages[index]
	page.Records = slices.Clone(page.Records)
	page.Next = wire.Position{Set: true, Number: number + 1}
	return page, nil
}

func (b *book) Ahead(_ wire.Operation, at wire.Position) (wire.Position, bool) {
	return wire.Position{Set: true, Number: b.number(at) + 1}, !b.unnumbered
}

func (b *book) number(at wire.Position) int {
	if at.Set {
		return at.Number
	}
	return b.first
}

func (b *book) Refuse(_ wire.Operation, problems []wire.Problem) error { return refusal(problems) }

func (b *book) Fail(_ wire.Operation, reason string, kind error) error { return failure{reason, kind} }

func (b *book) begins(q wire.Query) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, q)
	b.under++
	b.most = max(b.most, b.under)
}

func (b *book) ends() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under--
}

// numbers gives the pages that were asked for, in ascending order.
func (b *book) numbers() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var numbers []int
	for _, q := range b.asked {
		numbers = append(numbers, b.number(q.At))
	}
	slices.Sort(numbers)
	return numbers
}

// calls tells how many calls have begun, and how many of them have not ended.
func (b *book) calls() (begun, under int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked), b.under
}

// refusal is the error of a call with problems.
type refusal []wire.Problem

func (r refusal) Error() string { return fmt.Sprint("refused: ", []wire.Problem(r)) }

func (r refusal) fields() []string {
	var fields []string
	for _, p := range r {
		fields = append(fields, p.Field)
	}
	return fields
}

// failure is the error of a read that the channel saw to have failed.
type failure struct {
	reason string
	kind   error
}

func (f failure) Error() string { return f.reason }

func (f failure) Unwrap() error { return f.kind }

// paged makes pages of rows with these IDs: "1 2|3". Every page tells how many there are.
func paged(text string) []wire.Page {
	var pages []wire.Page
	total := 0
	for ids := range strings.SplitSeq(text, "|") {
		var page wire.Page
		for id := range strings.FieldsSeq(ids) {
			page.Records = append(page.Records, wire.Record{ID: id})
		}
		total += len(page.Records)
		pages = append(pages, page)
	}
	for i := range pages {
		p := &pages[i]
		p.Number, p.Size, p.Total, p.TotalPages, p.Last = i+1, len(pages[0].Records), total, len(pages), i == len(pages)-1
	}
	return pages
}

// secretive takes from the pages what they tell of their number.
func secretive(pages []wire.Page) []wire.Page {
	for i := range pages {
		pages[i].Number, pages[i].Total, pages[i].TotalPages = 0, 0, 0
	}
	return pages
}

func newBook(pages []wire.Page) *book { return &book{pages: pages, first: 1} }

// walk ranges to the end, over errors too, and gives the IDs of the rows and the errors.
func walk(rows iter.Seq2[Transaction, error]) (ids string, errs []error) {
	var all []string
	for tx, err := range rows {
		if err != nil {
			errs = append(errs, err)
		} else {
			all = append(all, tx.ID)
		}
		if len(all)+len(errs) > 1000 {
			errs = append(errs, errors.New("it does not end"))
			break
		}
	}
	return strings.Join(all, " "), errs
}

// rowsOf gives the rows of pages like List.
func rowsOf(pages iter.Seq2[Page, error]) iter.Seq2[Transaction, error] {
	return func(yield func(Transaction, error) bool) {
		for page, err := range pages {
			for _, tx := range page.Transactions {
				if !yield(tx, nil) {
					return
				}
			}
			if err != nil && !yield(Transaction{}, err) {
				return
			}
		}
	}
}

// way is a way to list: by rows or by pages, page after page or ahead.
type way struct {
	pages bool
	ahead int
}

func (w way) list(ctx context.Context, s *Service, o ListOptions) iter.Seq2[Transaction, error] {
	o.PagesAhead = w.ahead
	if w.pages {
		return rowsOf(s.Pages(ctx, o))
	}
	return s.List(ctx, o)
}

func (w way) String() string { return fmt.Sprintf("pages=%v,ahead=%d", w.pages, w.ahead) }

var ways = []way{{false, 0}, {false, 1}, {false, 4}, {true, 0}, {true, 4}}

func TestNothingIsAskedBeforeTheLoopBegins(t *testing.T) {
	t.Parallel()
	for _, by := range ways {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			b := newBook(paged("1 2|3"))
			rows := by.list(t.Context(), NewService(b), ListOptions{})
			assert.Empty(t, b.asked)
			ids, errs := walk(rows)
			assert.Equal(t, "1 2 3", ids)
			assert.Empty(t, errs)
		})
	}
}

func TestAPageIsAskedForWhenTheRowsBeforeItAreConsumed(t *testing.T) {
	t.Parallel()
	b := newBook(paged("1 2|3 4|5"))
	var asked []int
	for tx, err := range NewService(b).List(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		begun, _ := b.calls()
		asked = append(asked, begun)
		assert.Equal(t, fmt.Sprint(len(asked)), tx.ID)
	}
	assert.Equal(t, []int{1, 1, 2, 2, 3}, asked)
	assert.Equal(t, []int{1, 2, 3}, b.numbers())

	b, asked = newBook(paged("1 2|3 4|5")), nil
	for _, err := range NewService(b).Pages(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		begun, _ := b.calls()
		asked = append(asked, begun)
	}
	assert.Equal(t, []int{1, 2, 3}, asked)
}

// The Doer of these tests writes over the memory of a page when the next one is asked for.
func TestRowsThatWereHandedOutStayAsTheyAre(t *testing.T) {
	t.Parallel()
	b := newBook(paged("1 2|3 4|5"))
	var pages []Page
	for page, err := range NewService(b).Pages(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		pages = append(pages, page)
	}
	require.Len(t, pages, 3)
	assert.Len(t, b.asked[1].Reuse, 2, "the memory of the page before is lent")
	assert.Equal(t, "1", pages[0].Transactions[0].ID)
	assert.Equal(t, "4", pages[1].Transactions[1].ID)
}

func TestRangingAgainListsAgain(t *testing.T) {
	t.Parallel()
	for _, by := range ways {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			b := newBook(paged("1 2|3 4|5"))
			rows := by.list(t.Context(), NewService(b), ListOptions{})
			for _, err := range rows {
				require.NoError(t, err)
				break
			}
			for range 2 {
				ids, errs := walk(rows)
				assert.Equal(t, "1 2 3 4 5", ids)
				assert.Empty(t, errs)
			}
		})
	}
}

func TestTheOptionsAreCopied(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(url.Values){
		"set":      func(extra url.Values) { extra.Set("tag", "other") },
		"added":    func(extra url.Values) { extra.Add("more", "x") },
		"in place": func(extra url.Values) { extra["tag"][0] = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, by := range ways {
				t.Run(by.String(), func(t *testing.T) {
					t.Parallel()
					b := newBook(paged("1 2|3"))
					extra := url.Values{"tag": {"mine"}}
					rows := by.list(t.Context(), NewService(b), ListOptions{Extra: extra})
					change(extra)
					_, errs := walk(rows)
					require.Empty(t, errs)
					assert.Equal(t, url.Values{"tag": {"mine"}}, b.asked[0].Extra)
					assert.Equal(t, url.Values{"tag": {"mine"}}, b.asked[1].Extra)
				})
			}
		})
	}
}

func TestTheOptionsReachEveryPage(t *testing.T) {
	t.Parallel()
	after := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	options := ListOptions{
		CreatedAfter: after, CreatedBefore: after.Add(time.Hour), ID: "i", ReferenceID: "r", RequestID: "q", CategoryID: "c",
		From: "f", To: "t", Status: "s", PageSize: 7, SortBy: "column", Extra: url.Values{"tag": {"x"}},
	}
	want := filter{
		CreatedAfter: after, CreatedBefore: after.Add(time.Hour), ID: "i", ReferenceID: "r", RequestID: "q", CategoryID: "c",
		From: "f", To: "t", Status: "s", PageSize: 7, SortBy: "column", Descending: "ascending",
	}
	for _, by := range ways {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			b := newBook(paged("1|2|3"))
			_, errs := walk(by.list(t.Context(), NewService(b), options))
			require.Empty(t, errs)
			for _, q := range b.asked {
				assert.Equal(t, &want, q.Filter)
				assert.Equal(t, options.Extra, q.Extra)
				assert.Equal(t, wire.SMSList, q.Op)
			}
			assert.Equal(t, []int{1, 2, 3}, b.numbers()[:3])
		})
	}
}

func TestTheOrderIsSaidWhereItIsSortedOrTurnedAround(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		options ListOptions
		want    string
	}{
		{ListOptions{}, ""},
		{ListOptions{SortBy: "x"}, "ascending"},
		{ListOptions{SortBy: "x", Descending: true}, "descending"},
		{ListOptions{Descending: true}, "descending"},
	} {
		q := tt.options.query(newBook(nil))
		assert.Equal(t, tt.want, q.Filter.(*filter).Descending, "%+v", tt.options)
	}
}

func TestTheListingBeginsAtThePageThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, by := range ways {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			b := newBook(paged("1|2|3|4"))
			ids, errs := walk(by.list(t.Context(), NewService(b), ListOptions{Page: 3}))
			assert.Empty(t, errs)
			assert.Equal(t, "3 4", ids)
			assert.Equal(t, []int{3, 4}, b.numbers()[:2])
		})
	}
}

func TestABreakEndsTheCalls(t *testing.T) {
	t.Parallel()
	b := newBook(paged("1 2|3 4|5"))
	for _, err := range NewService(b).List(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		break
	}
	for tx, err := range NewService(b).List(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		if tx.ID == "2" { // also at the end of a page
			break
		}
	}
	for _, err := range NewService(b).Pages(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, []int{1, 1, 1}, b.numbers())
}

func TestAContextThatEndsEndsTheListing(t *testing.T) {
	t.Parallel()
	b := newBook(paged("1 2|3 4|5 6|7"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ids []string
	var errs []error
	for tx, err := range NewService(b).List(ctx, ListOptions{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if ids = append(ids, tx.ID); tx.ID == "3" {
			cancel()
		}
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, ids, "the rows of a page that came are given")
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)
	assert.Equal(t, []int{1, 2}, b.numbers())

	again, errs := walk(NewService(b).List(ctx, ListOptions{}))
	assert.Empty(t, again)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)
	assert.Equal(t, []int{1, 2}, b.numbers())
}

func TestAnErrorComesOnceAndEndsTheListing(t *testing.T) {
	t.Parallel()
	for _, by := range ways {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			b := newBook(paged("1 2|3 4|5 6"))
			b.before = func(_ context.Context, number int) error {
				if number == 2 {
					return errors.New("page 2 fails")
				}
				return nil
			}
			rows := by.list(t.Context(), NewService(b), ListOptions{})
			ids, errs := walk(rows)
			assert.Equal(t, "1 2", ids)
			require.Len(t, errs, 1)
			require.EqualError(t, errs[0], "page 2 fails")
			b.before = nil
			ids, errs = walk(rows)
			assert.Equal(t, "1 2 3 4 5 6", ids, "a failure is not kept")
			assert.Empty(t, errs)
		})
	}
}

func TestEachRowIsSeenOnceAndNoListingTurnsInCircles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pages  string
		rows   string
		circle bool // it ends with an error
		calls  int  // 0: as many as there are pages
	}{
		"empty":                              {pages: "", rows: ""},
		"one page":                           {pages: "1 2", rows: "1 2"},
		"pages that agree":                   {pages: "1 2|3 4|5", rows: "1 2 3 4 5"},
		"a short page in between":            {pages: "1 2|3|4 5", rows: "1 2 3 4 5"},
		"the last is empty":                  {pages: "1 2|", rows: "1 2"},
		"rows shift by one":                  {pages: "1 2|2 3|3 4|4", rows: "1 2 3 4"},
		"rows shift by two":                  {pages: "1 2 3|2 3 4|3 4 5", rows: "1 2 3 4 5"},
		"rows of two pages before":           {pages: "1 2|3 4|1 5|3 6|5", rows: "1 2 3 4 5 6"},
		"a page that repeats":                {pages: "1 2|1 2|3", rows: "1 2 3"},
		"the last page repeats":              {pages: "1 2|3|3", rows: "1 2 3"},
		"a page that repeats two before":     {pages: "1 2|3 4|2 1|5", rows: "1 2 3 4 5"},
		"two that repeat, one by one":        {pages: "1 2|1 2|3 4|3 4|5", rows: "1 2 3 4 5"},
		"two in a row repeat":                {pages: "1 2|1 2|2 1|3|4", rows: "1 2", circle: true, calls: 3},
		"two in a row repeat, later":         {pages: "1|2|3 4|4|3|5", rows: "1 2 3 4", circle: true, calls: 5},
		"the last two repeat":                {pages: "1|1|1", rows: "1", circle: true, calls: 3},
		"two pages alternate":                {pages: "1 2|3 4|1 2|3 4|1 2|3 4", rows: "1 2 3 4", circle: true, calls: 4},
		"rows of three pages before are new": {pages: "1|2|3|1", rows: "1 2 3 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := tt.calls
			if calls == 0 {
				calls = strings.Count(tt.pages, "|") + 1
			}
			for _, by := range ways {
				t.Run(by.String(), func(t *testing.T) {
					t.Parallel()
					for _, pages := range [][]wire.Page{paged(tt.pages), secretive(paged(tt.pages))} {
						b := newBook(pages)
						ids, errs := walk(by.list(t.Context(), NewService(b), ListOptions{}))
						assert.Equal(t, tt.rows, ids)
						if tt.circle {
							require.Len(t, errs, 1)
							require.ErrorContains(t, errs[0], "sms.list.paging")
						} else {
							assert.Empty(t, errs)
						}
						numbers := b.numbers()
						assert.Len(t, slices.Compact(slices.Clone(numbers)), len(numbers), "a page is asked for once")
						if by.ahead == 0 {
							assert.Len(t, numbers, calls)
						}
					}
				})
			}
		})
	}
}

func TestAListingThatRepeatsItselfForeverEnds(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1, 2, 3, 4, 7, 16, 17, 50} {
		t.Run(fmt.Sprint(length, " pages"), func(t *testing.T) {
			t.Parallel()
			cycle, want := many(length)
			for _, ahead := range []int{0, 4} {
				pages := secretive(paged(strings.Repeat(cycle+"|", 400) + cycle))
				b := newBook(pages)
				ids, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: ahead}))
				assert.True(t, strings.HasPrefix(ids, want))
				require.Len(t, errs, 1)
				require.ErrorContains(t, errs[0], "sms.list.paging")
				assert.LessOrEqual(t, len(b.asked), 4*length+2+ahead)
			}
		})
	}
}

// different gives a row without an ID for each field of a row, that differs from the zero row in it alone.
func different(t *testing.T) map[string]wire.Record {
	t.Helper()
	rows := map[string]wire.Record{}
	for field := range reflect.TypeFor[wire.Record]().Fields() {
		if field.Name == "ID" {
			continue
		}
		var r wire.Record
		switch v := reflect.ValueOf(&r).Elem().FieldByIndex(field.Index); v.Interface().(type) {
		case string:
			v.SetString("x")
		case int:
			v.SetInt(2)
		case time.Time:
			v.Set(reflect.ValueOf(time.Date(2026, 10, 3, 14, 44, 23, 186e6, time.UTC)))
		case map[string]json.RawMessage:
			v.Set(reflect.ValueOf(map[string]json.RawMessage{"a": json.RawMessage("12")}))
		default:
			require.Fail(t, "a field of a new kind", field.Name)
		}
		rows[field.Name] = r
	}
	rows["Extra, another name"] = wire.Record{Extra: map[string]json.RawMessage{"b": json.RawMessage("12")}}
	rows["Extra, cut elsewhere"] = wire.Record{Extra: map[string]json.RawMessage{"a1": json.RawMessage("2")}}
	rows["Extra, two members"] = wire.Record{Extra: map[string]json.RawMessage{"a": json.RawMessage("12"), "b": json.RawMessage("1")}}
	rows["two texts, cut here"] = wire.Record{From: "a", To: "bc"}
	rows["two texts, cut there"] = wire.Record{From: "ab", To: "c"}
	return rows
}

func TestRowsWithoutAnIDAreToldApartByContent(t *testing.T) {
	t.Parallel()
	rows := different(t)
	for name, row := range rows {
		count := func(before, after wire.Record) (n int) {
			pages := []wire.Page{{Records: []wire.Record{before}}, {Records: []wire.Record{after}, Last: true}}
			for _, err := range NewService(newBook(pages)).List(t.Context(), ListOptions{}) {
				require.NoError(t, err)
				n++
			}
			return n
		}
		assert.Equal(t, 1, count(row, row), "%s: the same row is seen twice", name)
		assert.Equal(t, 2, count(wire.Record{}, row), "%s: not told from the zero row", name)
		for other := range rows {
			if other != name {
				assert.Equal(t, 2, count(rows[other], row), "%s is not told from %s", name, other)
			}
		}
	}
}

func TestARowThatCannotBeReadIsAnErrorAndTheLoopMayGoOn(t *testing.T) {
	t.Parallel()
	pages := paged("1 2 3|4 5")
	pages[0].Unread = []wire.Unread{{Index: 1, Reason: "parts is in no form that is known"}}
	pages[1].Unread = []wire.Unread{{Index: 0, Reason: "it is no object"}, {Index: 1, Reason: "sent is in no form that is known"}}
	for _, ahead := range []int{0, 2} {
		b := newBook(pages)
		var got []string
		for tx, err := range NewService(b).List(t.Context(), ListOptions{PagesAhead: ahead}) {
			got = append(got, fmt.Sprintf("%s: %v", tx.ID, err))
		}
		assert.Equal(t, []string{
			"1: <nil>",
			"2: row 1 of the page cannot be read: parts is in no form that is known",
			"3: <nil>",
			"4: row 0 of page 2 cannot be read: it is no object",
			"5: row 1 of page 2 cannot be read: sent is in no form that is known",
		}, got)
	}
}

func TestARowThatCannotBeReadAndMovesToTheNextPageIsToldOnce(t *testing.T) {
	t.Parallel()
	pages := paged("1 2|2 3")
	pages[0].Unread = []wire.Unread{{Index: 1, Reason: "parts is in no form that is known"}}
	pages[1].Unread = []wire.Unread{{Index: 0, Reason: "parts is in no form that is known"}}
	ids, errs := walk(NewService(newBook(pages)).List(t.Context(), ListOptions{}))
	assert.Equal(t, "1 3", ids)
	assert.Len(t, errs, 1)
}

func TestABreakAtARowThatCannotBeReadEndsTheListing(t *testing.T) {
	t.Parallel()
	pages := paged("1 2|3")
	pages[0].Unread = []wire.Unread{{Index: 0, Reason: "it is no object"}}
	b := newBook(pages)
	rows := 0
	for _, err := range NewService(b).List(t.Context(), ListOptions{}) {
		require.Error(t, err)
		rows++
		break
	}
	assert.Equal(t, 1, rows)
	assert.Equal(t, []int{1}, b.numbers())
}

func TestPagesTellWhatTheServiceSaysOfTheListing(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int{0, 2} {
		var got []Page
		for page, err := range NewService(newBook(paged("1 2|2 3|4"))).Pages(t.Context(), ListOptions{PagesAhead: ahead}) {
			require.NoError(t, err)
			got = append(got, page)
		}
		assert.Equal(t, []Page{
			{Transactions: []Transaction{{ID: "1"}, {ID: "2"}}, Number: 1, Size: 2, Total: 5, TotalPages: 3, HasNext: true},
			{Transactions: []Transaction{{ID: "3"}}, Number: 2, Size: 2, Total: 5, TotalPages: 3, HasNext: true},
			{Transactions: []Transaction{{ID: "4"}}, Number: 3, Size: 2, Total: 5, TotalPages: 3},
		}, got)
	}
}

func TestAnEmptyListingIsOneEmptyPageWithoutAnError(t *testing.T) {
	t.Parallel()
	b := newBook(paged(""))
	pages := 0
	for page, err := range NewService(b).Pages(t.Context(), ListOptions{}) {
		require.NoError(t, err)
		assert.Equal(t, Page{Transactions: []Transaction{}, Number: 1, TotalPages: 1}, page)
		pages++
	}
	assert.Equal(t, 1, pages)
	assert.Equal(t, []int{1}, b.numbers())
}

func TestAPageComesWithOneErrorForItsRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	pages := paged("1 2 3|4")
	pages[0].Unread = []wire.Unread{{Index: 0, Reason: "it is no object"}, {Index: 2, Reason: "sent is in no form that is known"}}
	var got []string
	for page, err := range NewService(newBook(pages)).Pages(t.Context(), ListOptions{}) {
		text := fmt.Sprint(len(page.Transactions), " rows")
		if err != nil {
			text += ": " + strings.ReplaceAll(err.Error(), "\n", "; ")
			assert.ErrorAs(t, err, new(failure))
		}
		got = append(got, text)
	}
	assert.Equal(t, []string{
		"3 rows: row 0 of the page cannot be read: it is no object; row 2 of the page cannot be read: sent is in no form that is known",
		"1 rows",
	}, got)
}

func TestAPageThatFailsIsAnErrorBesideAnEmptyPage(t *testing.T) {
	t.Parallel()
	b := newBook(paged("1|2"))
	b.before = func(_ context.Context, number int) error {
		if number == 2 {
			return errors.New("page 2 fails")
		}
		return nil
	}
	var got []Page
	var errs []error
	for page, err := range NewService(b).Pages(t.Context(), ListOptions{}) {
		got, errs = append(got, page), append(errs, err)
	}
	require.Len(t, got, 2)
	assert.Equal(t, Page{}, got[1])
	assert.EqualError(t, errs[1], "page 2 fails")
}

func TestEachProblemOfTheOptionsNamesItsField(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		options    ListOptions
		unnumbered bool
		fields     []string
	}{
		"nothing":                {},
		"everything in order":    {options: ListOptions{CreatedAfter: at, CreatedBefore: at.Add(1), Page: 1, PageSize: 1, PagesAhead: 64}},
		"one bound":              {options: ListOptions{CreatedAfter: at}},
		"the other bound":        {options: ListOptions{CreatedBefore: at}},
		"page below zero":        {options: ListOptions{Page: -1}, fields: []string{"Page"}},
		"page size below zero":   {options: ListOptions{PageSize: -1}, fields: []string{"PageSize"}},
		"ahead below zero":       {options: ListOptions{PagesAhead: -1}, fields: []string{"PagesAhead"}},
		"too far ahead":          {options: ListOptions{PagesAhead: 65}, fields: []string{"PagesAhead"}},
		"bounds the wrong way":   {options: ListOptions{CreatedAfter: at, CreatedBefore: at.Add(-1)}, fields: []string{"CreatedBefore"}},
		"equal bounds":           {options: ListOptions{CreatedAfter: at, CreatedBefore: at}, fields: []string{"CreatedBefore"}},
		"a bound before time":    {options: ListOptions{CreatedAfter: time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)}, fields: []string{"CreatedAfter"}},
		"a bound too late":       {options: ListOptions{CreatedBefore: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}, fields: []string{"CreatedBefore"}},
		"page without numbers":   {options: ListOptions{Page: 1}, unnumbered: true, fields: []string{"Page"}},
		"ahead without numbers":  {options: ListOptions{PagesAhead: 1}, unnumbered: true, fields: []string{"PagesAhead"}},
		"both without numbers":   {options: ListOptions{Page: 1, PagesAhead: 1}, unnumbered: true, fields: []string{"Page", "PagesAhead"}},
		"size without numbers":   {options: ListOptions{PageSize: 5}, unnumbered: true},
		"several at the same":    {options: ListOptions{Page: -1, PageSize: -1, PagesAhead: -1}, fields: []string{"Page", "PageSize", "PagesAhead"}},
		"below zero, no numbers": {options: ListOptions{Page: -1, PagesAhead: -1}, unnumbered: true, fields: []string{"Page", "PagesAhead"}},
	} {
		for range 20 { // the order of the problems does not change
			b := newBook(paged("1|2"))
			b.unnumbered = tt.unnumbered
			_, errs := walk(NewService(b).List(t.Context(), tt.options))
			if tt.fields == nil {
				require.Empty(t, errs, name)
				continue
			}
			require.Len(t, errs, 1, name)
			var refused refusal
			require.ErrorAs(t, errs[0], &refused, name)
			require.Equal(t, tt.fields, refused.fields(), name)
			require.Empty(t, b.asked, name)
			for _, p := range refused {
				require.NotEmpty(t, p.Reason, name)
			}
			var pages []Page
			for page, err := range NewService(b).Pages(t.Context(), tt.options) {
				require.Equal(t, errs[0], err, name)
				pages = append(pages, page)
			}
			require.Equal(t, []Page{{}}, pages, name)
		}
	}
}

// A concept without a field cannot be asked for, and a field without a concept is lost on the way.
func TestTheFilterHoldsEveryParameterOfTheContract(t *testing.T) {
	t.Parallel()
	var want, got []string
	for field := range reflect.TypeFor[contract.SMSListParams]().Fields() {
		if concept := field.Tag.Get("json"); concept != "page" && concept != "offset" && concept != "cursor" {
			want = append(want, concept)
		}
	}
	for field := range reflect.TypeFor[filter]().Fields() {
		concept, option, _ := strings.Cut(field.Tag.Get("url"), ",")
		got = append(got, concept)
		assert.Equal(t, "omitempty", option, field.Name)
		_, ok := reflect.TypeFor[ListOptions]().FieldByName(field.Name)
		assert.True(t, ok, "errors name %s, which ListOptions does not have", field.Name)
	}
	assert.ElementsMatch(t, want, got)
}

func TestPrintedOptionsShowHowManyAreSetAndNoneOfThem(t *testing.T) {
	t.Parallel()
	options := ListOptions{
		ID: "PRIVATE", ReferenceID: "PRIVATE", From: "PRIVATE", To: "+639171234567", Page: 4711, Extra: url.Values{"PRIVATE": {"PRIVATE"}},
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("listed", "options", options)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("listed", "options", options)
	all := []string{log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{options, &options, []ListOptions{options}, struct{ Options ListOptions }{options}} {
			all = append(all, fmt.Sprintf(verb, value))
		}
	}
	for _, shown := range all {
		assert.NotContains(t, shown, "PRIVATE")
		assert.NotContains(t, shown, "639171234567")
		assert.NotContains(t, shown, "4711")
		assert.Contains(t, shown, "sms.ListOptions{6 options}")
	}
}

func TestTheSameListingMayBeRangedByManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBook(paged("1 2|2 3|4 5|6"))
		b.before = pause(time.Second)
		rows := NewService(b).List(t.Context(), ListOptions{PagesAhead: 1, Extra: url.Values{"tag": {"x"}}})
		var running sync.WaitGroup
		for range 8 {
			running.Go(func() {
				ids, errs := walk(rows)
				assert.Equal(t, "1 2 3 4 5 6", ids)
				assert.Empty(t, errs)
			})
		}
		running.Wait()
	})
}

// pause lets every page take this long, or until the context ends.
func pause(d time.Duration) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error { return wait(ctx, d) }
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
