package sms

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many makes n pages of two rows each, and says what they hold.
func many(n int) (pages, rows string) {
	var parts, ids []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("%d %d", 2*i+1, 2*i+2))
		ids = append(ids, fmt.Sprint(2*i+1), fmt.Sprint(2*i+2))
	}
	return strings.Join(parts, "|"), strings.Join(ids, " ")
}

func TestSlowPagesAreFetchedTogether(t *testing.T) {
	t.Parallel()
	const pages = 12
	text, want := many(pages)
	for _, tt := range []struct {
		ahead, most int
		seconds     int // each page takes one
	}{
		{0, 1, 12}, {1, 2, 6}, {2, 3, 4}, {5, 6, 2}, {11, 12, 1}, {64, 65, 1},
	} {
		t.Run(fmt.Sprint(tt.ahead, " ahead"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBook(paged(text))
				b.before = pause(time.Second)
				start := time.Now()
				ids, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: tt.ahead}))
				assert.Equal(t, want, ids)
				assert.Empty(t, errs)
				assert.Equal(t, tt.most, b.most, "pages under way at once")
				assert.Equal(t, time.Duration(tt.seconds)*time.Second, time.Since(start))
				assert.Zero(t, b.under)
			})
		})
	}
}

func TestWhileAPageIsReadNoMoreAreFetchedThanAreWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, _ := many(20)
		b := newBook(paged(text))
		b.before = pause(time.Second)
		page := 0
		for _, err := range NewService(b).Pages(t.Context(), ListOptions{PagesAhead: 3}) {
			require.NoError(t, err)
			page++
			time.Sleep(time.Minute)
			begun, under := b.calls()
			assert.Equal(t, min(page+3, 20), begun, "at page %d", page)
			assert.Zero(t, under)
		}
	})
}

func TestPagesComeInOrderAlsoWhereLaterOnesCameFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, want := many(9)
		b := newBook(paged(text))
		b.before = func(ctx context.Context, number int) error { return wait(ctx, time.Duration(20-number)*time.Second) }
		ids, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: 4}))
		assert.Equal(t, want, ids)
		assert.Empty(t, errs)
	})
}

func TestNoPageIsAskedForBeyondTheLastThatIsKnown(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pages, first int
		options      ListOptions
		want         []int
	}{
		"fewer ahead":                    {6, 1, ListOptions{PagesAhead: 2}, []int{1, 2, 3, 4, 5, 6}},
		"one ahead":                      {3, 1, ListOptions{PagesAhead: 1}, []int{1, 2, 3}},
		"from 0":                         {4, 0, ListOptions{PagesAhead: 2}, []int{0, 1, 2, 3}},
		"begun later":                    {6, 1, ListOptions{PagesAhead: 1, Page: 4}, []int{4, 5, 6}},
		"begun later, from 0":            {6, 0, ListOptions{PagesAhead: 1, Page: 3}, []int{3, 4, 5}},
		"all at once, before it is told": {2, 1, ListOptions{PagesAhead: 3}, []int{1, 2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				text, _ := many(tt.pages)
				b := newBook(paged(text))
				b.first, b.before = tt.first, pause(time.Second)
				_, errs := walk(NewService(b).List(t.Context(), tt.options))
				assert.Empty(t, errs)
				assert.Equal(t, tt.want, b.numbers())
			})
		})
	}
}

func TestAPageThatDoesNotRepeatHowManyThereAreIsNoReasonToAskBeyond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, want := many(4)
		pages := paged(text)
		pages[1].TotalPages, pages[2].TotalPages, pages[3].TotalPages = 0, 0, 0
		b := newBook(pages)
		b.before = pause(time.Second)
		ids, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: 2}))
		assert.Empty(t, errs)
		assert.Equal(t, want, ids)
		assert.Equal(t, []int{1, 2, 3, 4}, b.numbers())
	})
}

func TestALoopThatEndsCancelsWhatIsUnderWayAndWaitsForIt(t *testing.T) {
	t.Parallel()
	const tidying = 100 * time.Millisecond
	slow := func(ctx context.Context, number int) error {
		if number == 1 {
			return nil
		}
		<-ctx.Done() // only this ends it
		time.Sleep(tidying)
		return ctx.Err()
	}
	for name, tt := range map[string]struct{ pages, panics bool }{
		"break": {false, false}, "break of pages": {true, false}, "panic": {false, true}, "panic of pages": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				text, _ := many(9)
				b := newBook(paged(text))
				b.before = slow
				start := time.Now()
				func() {
					defer func() { assert.Equal(t, tt.panics, recover() != nil) }()
					for _, err := range (way{tt.pages, 3}).list(t.Context(), NewService(b), ListOptions{}) {
						require.NoError(t, err)
						time.Sleep(time.Second) // the others have begun
						if tt.panics {
							panic("in the loop")
						}
						break
					}
				}()
				begun, under := b.calls()
				assert.Equal(t, 4, begun)
				assert.Zero(t, under, "calls are left behind")
				assert.Equal(t, time.Second+tidying, time.Since(start))
				time.Sleep(time.Hour)
				later, _ := b.calls()
				assert.Equal(t, begun, later)
			})
		})
	}
}

func TestAContextThatEndsEndsWhatIsFetchedAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, _ := many(50)
		b := newBook(paged(text))
		b.before = pause(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		ids, errs := walk(NewService(b).List(ctx, ListOptions{PagesAhead: 3}))
		_, want := many(8) // four in each of two seconds
		assert.Equal(t, want, ids)
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.DeadlineExceeded)
		assert.Equal(t, 2500*time.Millisecond, time.Since(start))
		assert.LessOrEqual(t, len(b.asked), 12)
		assert.Zero(t, b.under)
	})
}

func TestTheErrorOfALaterPageComesAfterTheRowsBeforeIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, _ := many(6)
		b := newBook(paged(text))
		b.before = func(ctx context.Context, number int) error {
			if number == 3 {
				return errors.New("page 3 fails")
			}
			return wait(ctx, time.Duration(number)*time.Second)
		}
		var got []string
		for tx, err := range NewService(b).List(t.Context(), ListOptions{PagesAhead: 4}) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, tx.ID)
		}
		assert.Equal(t, []string{"1", "2", "3", "4", "page 3 fails"}, got)
		assert.Zero(t, b.under)
	})
}

func TestAPageBehindTheLastDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, behind := range map[string]func(context.Context) error{
		"fails":   func(context.Context) error { return errors.New("no such page") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"is slow": func(context.Context) error { time.Sleep(time.Minute); return errors.New("no such page") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				text, want := many(2)
				b := newBook(paged(text))
				b.before = func(ctx context.Context, number int) error {
					if number > 2 {
						return behind(ctx)
					}
					return wait(ctx, time.Second)
				}
				ids, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: 4}))
				assert.Equal(t, want, ids)
				assert.Empty(t, errs)
				assert.Zero(t, b.under)
			})
		})
	}
}

func TestAListingAheadGivesTheSamePagesAsOneInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		shifting := "1 2 3|3 4 5|5 6 7|5 6 7|8 9 10|9 11 12|13"
		list := func(ahead int) (pages []Page) {
			b := newBook(paged(shifting))
			b.before = func(ctx context.Context, number int) error { return wait(ctx, time.Duration(number%3)*time.Second) }
			for page, err := range NewService(b).Pages(t.Context(), ListOptions{PagesAhead: ahead}) {
				require.NoError(t, err)
				pages = append(pages, page)
			}
			return pages
		}
		want := list(0)
		require.Len(t, want, 7)
		for _, ahead := range []int{1, 2, 4, 64} {
			assert.Equal(t, want, list(ahead), "%d ahead", ahead)
		}
	})
}

func TestPagesAheadLendNoMemory(t *testing.T) {
	t.Parallel()
	text, _ := many(9)
	b := newBook(paged(text))
	_, errs := walk(NewService(b).List(t.Context(), ListOptions{PagesAhead: 2}))
	require.Empty(t, errs)
	for _, q := range slices.Clone(b.asked) {
		assert.Nil(t, q.Reuse, "two pages would be written into the same rows")
	}
}
