package check

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// listFake runs the command without --send.
func listFake(t *testing.T, f *fake, overlay string) run {
	t.Helper()
	r := newRig(t, f.serve(t), "secret-token-1")
	r.overlayFile(overlay)
	status, out, progress := r.run()
	return newRun(t, status, out, progress)
}

// TestListingWithoutSending: the rows of the listing show which values are read, and prove the filters by ID.
func TestListingWithoutSending(t *testing.T) {
	got := listFake(t, newFake(), names)
	assert.Equal(t, cli.ExitOK, got.status, got.out)
	assert.Equal(t, []string{"filter by id", "filter by reference", "filter by request", "listing", "order by created", "paging"}, got.proven(), got.out)
	assert.Equal(t, "of 7 rows: id 7, reference 7, from 7, to 7, created 7, status 7, price 0", got.why["values"])
}

// TestNameThatNoRowHas: a name of the overlay that is in no row is wrong. A name with null in a row is not.
func TestNameThatNoRowHas(t *testing.T) {
	const overlay = `{"sms.list": {"items": ["list.rows"], "record": {
		"id": ["uid"], "request": ["batch"], "reference": ["myRef"], "from": ["source"], "to": ["target"], "text": ["body"],
		"created": ["times.made"], "price": ["tenant.colour", "fee"], "parts": ["count"]
	}}}`
	f := newFake()
	f.changeRows(func(row object, _ fakeMessage) { row["count"] = nil })
	got := listFake(t, f, overlay)
	assert.Equal(t, cli.ExitRefused, got.status, got.out)
	assert.Equal(t, "of 7 rows: id 7, reference 0, from 7, to 7, created 0, status 7, price 0", got.why["values"])
	for subject, why := range map[string]string{
		"name of reference": "not found: none of 7 rows has myRef",
		"name of created":   "not found: none of 7 rows has times.made",
		"name of price":     "not found: none of 7 rows has tenant.colour or fee",
	} {
		assert.Equal(t, wrong, got.grades[subject], got.out)
		assert.Equal(t, why, got.why[subject])
	}
	assert.NotContains(t, got.grades, "name of parts")
	assert.NotContains(t, got.grades, "name of operator", "a default name")
	assert.Equal(t, plausible, got.grades["filter by reference"], "no row shows a reference")
}

// TestPriceOfRow: the price as it is read shows a wrong scale. What may be a phone number or a text is not shown.
func TestPriceOfRow(t *testing.T) {
	const overlay = `{"sms.list": {"items": ["list.rows"], %s "record": {"id": ["uid"], "created": ["at"], "price": ["fee"], "currency": ["unit"]}}}`
	for want, tt := range map[string]struct {
		scale     string
		fee, unit any
	}{
		"a row has 12000 EUR: ":                             {"", 12000, "EUR"},
		"a row has 1.2000 EUR: ":                            {`"scale": -4,`, 12000, "EUR"},
		"a row has 0.50: if the service means another":      {"", "0.50", nil},
		"a row has 0.00750000 EUR: ":                        {"", "0.00750000", "EUR"},
		"a row has a price of 7 digits before the decimal":  {"", 7500000, "EUR"},
		"a row has a price of 12 digits before the decimal": {"", "639171230001", "The quick brown fox"},
	} {
		f := newFake()
		f.changeRows(func(row object, _ fakeMessage) {
			row["fee"] = tt.fee
			row["unit"] = tt.unit
		})
		got := listFake(t, f, fmt.Sprintf(overlay, tt.scale))
		assert.Contains(t, got.why["price of a row"], want, got.out)
		assert.Equal(t, plausible, got.grades["price of a row"])
	}
	assert.NotContains(t, listFake(t, newFake(), names).grades, "price of a row", "no row has one")
}

// TestWrongPathIsReportedOnce: a value that is not read because no row has its name has one line.
func TestWrongPathIsReportedOnce(t *testing.T) {
	overlay := strings.Replace(names, `"deliveryStatus"`, `"price": ["cost.each"], "parts": ["pieces"], "deliveryStatus"`, 1)
	got := checkFake(t, newFake(), overlay)
	for _, subject := range []string{"price", "parts"} {
		assert.Equal(t, wrong, got.grades["name of "+subject], got.out)
		assert.NotContains(t, got.grades, subject, got.out)
	}
	assert.Contains(t, got.grades, "status", "a row has it")
}

// TestOrder has services that sort otherwise than the contract says.
func TestOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *fake)
		want   grade
		why    string
	}{
		"as the contract says": {func(*fake) {}, proven, "rows come in both orders of their times"},
		"ignored":              {func(f *fake) { f.sort = func([]fakeMessage, url.Values) {} }, wrong, "it is ignored: both orders list the same rows"},
		"the other way round": {func(f *fake) {
			f.sort = func(messages []fakeMessage, q url.Values) {
				sortByDate(messages, q)
				slices.Reverse(messages)
			}
		}, wrong, "ascending is descending: see sms.list.orders"},
		"by another column": {func(f *fake) {
			f.sort = func(messages []fakeMessage, q url.Values) {
				slices.SortFunc(messages, func(a, b fakeMessage) int { return strings.Compare(a.from+a.to, b.from+b.to) })
				if q.Get("sort[direction]") == "desc" {
					slices.Reverse(messages)
				}
			}
		}, wrong, "rows are not in the order of their times"},
		"refused": {func(f *fake) {
			f.refuses = func(r *http.Request, _ url.Values) string {
				if r.URL.Query().Has("sort[column]") {
					return "400 unknown parameter"
				}
				return ""
			}
		}, wrong, "unknown parameter"},
		"a row without a time": {func(f *fake) {
			f.changeRows(func(row object, m fakeMessage) {
				if m.ref == "order-3" {
					row["at"] = nil
				}
			})
		}, proven, "rows come in both orders of their times"},
		"a row without a time, and ignored": {func(f *fake) {
			f.sort = func([]fakeMessage, url.Values) {}
			f.changeRows(func(row object, m fakeMessage) {
				if m.ref == "order-0" {
					row["at"] = nil
				}
			})
		}, wrong, "it is ignored: both orders list the same rows"},
		"no times": {func(f *fake) {
			f.changeRows(func(row object, _ fakeMessage) { row["at"] = nil })
		}, plausible, "could not tell: no two rows have different times"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			tt.change(f)
			got := listFake(t, f, names)
			assert.Equal(t, tt.want, got.grades["order by created"], got.out)
			assert.Contains(t, got.why["order by created"], tt.why)
			assert.Equal(t, map[bool]int{true: cli.ExitRefused, false: cli.ExitOK}[tt.want == wrong], got.status, got.out)
		})
	}
	overlay := strings.Replace(names, `"record"`, `"params": {"sortBy": "", "order": ""}, "record"`, 1)
	assert.NotContains(t, listFake(t, newFake(), overlay).grades, "order by created", "the contract has no names for it")
}

// TestListedReference has a filter by reference that finds a row of the listing wrongly.
func TestListedReference(t *testing.T) {
	for why, is := range map[string]func(m fakeMessage, value string) bool{
		"it finds nothing for the value of a row of the listing":                                                  func(fakeMessage, string) bool { return false },
		"it also finds other messages: a row has another value, or none":                                          func(_ fakeMessage, value string) bool { return value == "order-6" },
		"ignored: a made-up value still returned 7 rows; if the service has no such filter, set its name to \"\"": func(fakeMessage, string) bool { return true },
	} {
		f := newFake()
		f.filters["filter[referenceId]"] = is
		got := listFake(t, f, names)
		assert.Equal(t, cli.ExitRefused, got.status, got.out)
		assert.Equal(t, why, got.why["filter by reference"])
	}
}

// TestPaging: a second page is read, or the report says why not.
func TestPaging(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(f *fake)
		want   grade
		why    string
	}{
		"two pages": {func(*fake) {}, proven, "a second page has rows with other IDs"},
		"a page that is ignored": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					q.Del("pageNumber")
					return page(rows, q)
				}
			}, wrong, "page",
		},
		"an end that is not true": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					result := page(rows, q)
					result["hasNext"] = false
					return result
				}
			}, wrong, "the listing ends after 4 of 7 rows: see sms.list.paging and sms.list.page",
		},
		"a page size that is ignored": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					q.Del("pageSize")
					return page(rows, q)
				}
			}, plausible, "not seen: there is no second page",
		},
		"a page size that is refused": {
			func(f *fake) {
				f.refuses = func(r *http.Request, _ url.Values) string {
					if r.URL.Query().Get("pageSize") == "4" {
						return "400 the page size must be at least 10"
					}
					return ""
				}
			}, plausible, "could not tell: ",
		},
		"a position that counts rows": {
			countRowsAsPages, wrong, "the second page repeats 3 rows of the first: the position may count rows: paging.by offset",
		},
		"a position that counts rows, with pages of one row": {
			func(f *fake) {
				countRowsAsPages(f)
				f.messages = f.messages[:2]
			}, plausible, "could not tell: on pages of one or two rows, a position may count rows or pages",
		},
		"a message that came between the pages": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					if q.Get("pageNumber") == "2" {
						newer := f.row(fakeMessage{id: "newer", to: "639170000002", at: time.Now()})
						rows = append([]object{newer}, rows...)
					}
					return page(rows, q)
				}
			}, plausible, "the second page repeats 1 row of the first: new messages may have moved them",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			tt.change(f)
			got := listFake(t, f, names)
			assert.Equal(t, tt.want, got.grades["paging"], got.out)
			assert.Contains(t, got.why["paging"], tt.why)
			assert.Equal(t, map[bool]int{true: cli.ExitRefused, false: cli.ExitOK}[tt.want == wrong], got.status, got.out)
		})
	}
}

// countRowsAsPages has the fake take the number of a page for the number of rows to skip.
func countRowsAsPages(f *fake) {
	f.page = func(rows []object, q url.Values) object {
		skip, size := 1, 20
		_, _ = fmt.Sscan(q.Get("pageNumber"), &skip)
		_, _ = fmt.Sscan(q.Get("pageSize"), &size)
		begin := min(skip-1, len(rows))
		end := min(begin+size, len(rows))
		return object{"list": object{"rows": rows[begin:end], "hasNext": end < len(rows)}, "hasNext": end < len(rows)}
	}
}

// TestPageNumberThatSkipsRows: a service that takes the number of the first page for an offset skips the only row that a filter finds. The filter
// is not wrong, and neither are the rows of sent messages.
func TestPageNumberThatSkipsRows(t *testing.T) {
	for name, check := range map[string]func(f *fake) run{
		"listing": func(f *fake) run { return listFake(t, f, names) },
		"sends":   func(f *fake) run { return checkFake(t, f, names, "--wait", "0s") },
	} {
		f := newFake()
		f.skipRows(countRowsFromZero)
		got := check(f)
		assert.Equal(t, cli.ExitRefused, got.status, name)
		assert.Contains(t, got.why["paging"], "the position may count rows: paging.by offset", got.out)
		assert.Equal(t, "could not tell: the number of the first page may skip rows: see sms.list.paging", got.why["filter by reference"], got.out)
		for subject, grade := range got.grades {
			assert.Equal(t, subject == "paging", grade == wrong, "%s: %s\n%s", name, subject, got.out)
		}
	}
}

// TestPagingFromAnotherNumber: the second page of a service that counts from 0 has new rows, but the first rows of the account come on no page.
func TestPagingFromAnotherNumber(t *testing.T) {
	f := newFake()
	f.addMessages(100)
	page := f.page
	f.page = func(rows []object, q url.Values) object {
		number, _ := strconv.Atoi(q.Get("pageNumber"))
		q.Set("pageNumber", strconv.Itoa(number+1))
		return page(rows, q)
	}
	got := listFake(t, f, names)
	assert.Equal(t, plausible, got.grades["paging"], got.out)
	assert.Contains(t, got.why["paging"], "the service may count from another number, see sms.list.paging")
}

// offsetOverlay is the overlay of a fake whose listing has an offset, under the name by which the fake knows the number of a page.
func offsetOverlay(pageSize string) string {
	params := `"params": {"offset": "pageNumber", "page": "", "pageSize": "` + pageSize + `"}, "paging": {"by": "offset"}, `
	return strings.Replace(names, `"record"`, params+`"record"`, 1)
}

// skipRows has the fake begin a page at the row that start returns for the offset and the size of the page.
func (f *fake) skipRows(start func(offset, size int) int) {
	page := f.page
	f.page = func(rows []object, q url.Values) object {
		offset, size := 0, 20
		_, _ = fmt.Sscan(q.Get("pageNumber"), &offset)
		_, _ = fmt.Sscan(q.Get("pageSize"), &size)
		q.Del("pageNumber")
		return page(rows[min(start(offset, size), len(rows)):], q)
	}
}

func countRowsFromZero(offset, _ int) int { return offset }

func countPagesFromOne(offset, size int) int { return max(0, offset-1) * size }

func countPagesFromZero(offset, size int) int { return offset * size }

// TestPagingByOffset: most rows of the first page come again if the service counts its offset in a larger unit, and the rows that follow are left
// out if it takes the offset for the number of a page.
func TestPagingByOffset(t *testing.T) {
	const leavesOut = "the second page leaves out the rows that follow the first: the position may count pages: paging.by page"
	const ambiguous = "could not tell: on pages of one or two rows, a position may count rows or pages"
	for name, tt := range map[string]struct {
		start    func(offset, size int) int
		rows     int
		pageSize string
		want     grade
		why      string
	}{
		"rows":                {countRowsFromZero, 7, "pageSize", proven, "a second page has rows with other IDs"},
		"rows by four":        {func(offset, _ int) int { return offset / 4 }, 7, "pageSize", wrong, "the second page repeats 3 rows of the first: see sms.list.paging"},
		"pages from 1":        {countPagesFromOne, 200, "pageSize", wrong, leavesOut},
		"pages from 0":        {countPagesFromZero, 200, "pageSize", wrong, leavesOut},
		"pages of few rows":   {countPagesFromOne, 7, "pageSize", wrong, "the listing ends after 4 of 7 rows: see sms.list.paging and sms.list.page"},
		"pages of two rows":   {countPagesFromOne, 4, "pageSize", plausible, ambiguous},
		"rows, without size":  {countRowsFromZero, 400, "", plausible, "could not tell whether rows are left out"},
		"pages, without size": {countPagesFromOne, 400, "", plausible, "could not tell whether rows are left out"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.addMessages(tt.rows - fakeRows)
			f.skipRows(tt.start)
			got := listFake(t, f, offsetOverlay(tt.pageSize))
			assert.Equal(t, tt.want, got.grades["paging"], got.out)
			assert.Contains(t, got.why["paging"], tt.why)
		})
	}
}

// addMessages adds older messages, or removes some if n is negative.
func (f *fake) addMessages(n int) {
	if n < 0 {
		f.messages = f.messages[:len(f.messages)+n]
	}
	for i := range n {
		f.messages = append(f.messages, fakeMessage{id: fmt.Sprint("older-", i), ref: fmt.Sprint("older-", i), to: "639170000002", at: time.Now().Add(-30 * time.Hour)})
	}
}

// TestUnreadableRowIsReportedOnce has a price that is no number.
func TestUnreadableRowIsReportedOnce(t *testing.T) {
	f := newFake()
	f.changeRows(func(row object, _ fakeMessage) { row["price"] = object{"colour": "red"} })
	got := listFake(t, f, names)
	assert.Equal(t, wrong, got.grades["listing"], got.out)
	assert.NotContains(t, got.grades, "paging")
	assert.Equal(t, cli.ExitRefused, got.status)
	assert.Regexp(t, `^7 of 7 rows cannot be read in full; the first: sms.list: row 1 of page 1 cannot be read: \S`, got.why["listing"])
	assert.NotContains(t, got.why["listing"], "row 2")
	assert.NotContains(t, got.why["listing"], "messaging:")
}

// TestPageNames: a name of a page that no response has is wrong if there was a second page.
func TestPageNames(t *testing.T) {
	const overlay = `{"sms.list": {"items": ["list.rows"], "page": {"hasNext": ["%s"], "next": ["%s"], "total": []}, "record": {"id": ["uid"], "created": ["at"]}}}`
	for name, tt := range map[string]struct {
		hasNext, next string
		isOnePage     bool
		grades        map[string]grade
		why           map[string]string
	}{
		"names of the service": {
			hasNext: "list.hasNext", next: "list.rows",
			grades: map[string]grade{"name of page.hasNext": plausible, "name of page.next": plausible},
			why:    map[string]string{"name of page.hasNext": "found: a response has list.hasNext", "name of page.next": "found: a response has list.rows"},
		},
		"other names": {
			hasNext: "moar", next: "list.after",
			grades: map[string]grade{"name of page.hasNext": wrong, "name of page.next": wrong},
			why:    map[string]string{"name of page.hasNext": "not found: no response has moar", "name of page.next": "has list.after"},
		},
		"other names and one page": {
			hasNext: "moar", next: "after", isOnePage: true,
			grades: map[string]grade{"name of page.hasNext": plausible, "name of page.next": plausible},
			why:    map[string]string{"name of page.hasNext": "has moar, which a last page may lack"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			if tt.isOnePage {
				f.page = func(rows []object, _ url.Values) object { return object{"list": object{"rows": rows}} }
			}
			got := listFake(t, f, fmt.Sprintf(overlay, tt.hasNext, tt.next))
			for subject, want := range tt.grades {
				assert.Equal(t, want, got.grades[subject], got.out)
			}
			for subject, want := range tt.why {
				assert.Contains(t, got.why[subject], want, got.out)
			}
			assert.NotContains(t, got.grades, "name of page.total", "it has no name")
			assert.NotContains(t, got.grades, "name of page.number", "a default name")
		})
	}
}

// TestPageNameOfLastRow: the cursor is a member of the last row.
func TestPageNameOfLastRow(t *testing.T) {
	for path, want := range map[string]string{
		"$last.uid": "found: a response has $last.uid", "$last.id": "not found: no response has $last.id, which a last page may lack",
	} {
		f := newFake()
		f.page = func(rows []object, _ url.Values) object {
			return object{"list": object{"rows": rows}, "hasNext": false}
		}
		got := listFake(t, f, fmt.Sprintf(`{"sms.list": {
			"items": ["list.rows"], "params": {"page": "", "cursor": "after", "pageSize": ""}, "paging": {"by": "cursor"}, "page": {"next": ["%s"]},
			"record": {"id": ["uid"], "created": ["at"]}
		}}`, path))
		assert.Equal(t, plausible, got.grades["name of page.next"], got.out)
		assert.Equal(t, want, got.why["name of page.next"], got.out)
	}
}

// TestBoundsOfTime: a bound around the time of a row shows that the contract writes times in another form than the service reads.
func TestBoundsOfTime(t *testing.T) {
	const overlay = `{"sms.list": {"items": ["list.rows"], "time": "%s", "record": {"id": ["uid"], "created": ["at"]}}}`
	const after, before = "filter by createdAfter", "filter by createdBefore"
	for name, tt := range map[string]struct {
		form   string
		unit   time.Duration // of the numbers that the service reads
		grades map[string]grade
		why    map[string]string
	}{
		"seconds": {
			"unix", time.Second,
			map[string]grade{after: plausible, before: plausible},
			map[string]string{after: "it finds rows by their time", before: "it finds rows by their time"},
		},
		"milliseconds to a service in seconds": {
			"unixms", time.Second,
			map[string]grade{after: wrong, before: wrong},
			map[string]string{after: "it hides a row of the listing that it should find: see sms.list.time", before: "in sms.list.time first"},
		},
		"seconds to a service in milliseconds": {
			"unix", time.Millisecond,
			map[string]grade{after: wrong, before: wrong},
			map[string]string{after: "in sms.list.time first", before: "it hides a row of the listing that it should find: see sms.list.time"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			number := func(m fakeMessage) int64 { return m.at.UnixNano() / int64(tt.unit) }
			bound := func(text string) int64 {
				n, err := strconv.ParseInt(text, 10, 64)
				require.NoError(t, err)
				return n
			}
			f.filters["filter[dateCreatedGt]"] = func(m fakeMessage, v string) bool { return number(m) >= bound(v) }
			f.filters["filter[dateCreatedLt]"] = func(m fakeMessage, v string) bool { return number(m) < bound(v) }
			got := listFake(t, f, fmt.Sprintf(overlay, tt.form))
			for subject, want := range tt.grades {
				assert.Equal(t, want, got.grades[subject], got.out)
				assert.Contains(t, got.why[subject], tt.why[subject], got.out)
			}
		})
	}
}

// TestBoundsWithoutTime: the rows have no time to try.
func TestBoundsWithoutTime(t *testing.T) {
	f := newFake()
	f.changeRows(func(row object, _ fakeMessage) { row["at"] = nil })
	got := listFake(t, f, names)
	for _, subject := range []string{"filter by createdAfter", "filter by createdBefore"} {
		assert.Equal(t, plausible, got.grades[subject], got.out)
		assert.Equal(t, "it finds nothing for a bound that no message meets; no row has a time to try", got.why[subject])
	}
}

// TestSendStatus: rows without a send status, or with a word that the contract does not know, count as accepted.
func TestSendStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		phases map[string]any // by sender
		path   string
		why    string
	}{
		"none": {
			nil, "sms.list.record.sendStatus",
			"none of 7 rows has a send status: the verdict of a row is never refused, not even if the service refused its message",
		},
		"numbers": {
			map[string]any{"ACME": 1, "Zorro": 2},
			"sms.list.record.sendStatus",
			"7 of 7 rows have a number, and none has a word: the verdict of a row is never refused, not even if the service refused its message",
		},
		"known words": {
			map[string]any{"ACME": "accepted", "Zorro": "REJECTED"}, "sms.list.record.sendStatus", "7 of 7 rows have a word that the contract knows",
		},
		"an unknown word": {
			map[string]any{"ACME": "accepted", "Zorro": "BOUNCED"},
			"sms.send.refused",
			"3 of 7 rows have a word that the contract does not know, and count as accepted: see sms.send.accepted, sms.send.refused",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.changeRows(func(row object, m fakeMessage) { row["phase"] = tt.phases[m.from] })
			got := listFake(t, f, strings.Replace(names, `"record": {`, `"record": {"sendStatus": ["phase"], `, 1))
			assert.Equal(t, plausible, got.grades["send status"], got.out)
			assert.Equal(t, tt.why, got.why["send status"])
			assert.Regexp(t, `send status +`+tt.path+` `, got.out)
			assert.NotContains(t, got.out, "BOUNCED")
		})
	}
}

// TestSendStatusOfAllPages: the only row with an unknown word is not on the first page.
func TestSendStatusOfAllPages(t *testing.T) {
	f := newFake()
	f.usePages(4)
	f.changeRows(func(row object, m fakeMessage) {
		row["phase"] = "accepted"
		if m.ref == "order-0" { // the last row, if no order is asked for
			row["phase"] = "BOUNCED"
		}
	})
	got := listFake(t, f, strings.Replace(names, `"record": {`, `"record": {"sendStatus": ["phase"], `, 1))
	assert.Contains(t, got.why["send status"], "1 of 7 rows have a word that the contract does not know", got.out)
}

// TestFutureRow: a message cannot be created after now, so that the zone of its time is wrong. Only the page that begins with the newest row
// shows it.
func TestFutureRow(t *testing.T) {
	for name, tt := range map[string]struct {
		off  time.Duration
		want grade
	}{
		"another zone":  {8 * time.Hour, wrong},
		"another clock": {3 * time.Minute, ""},
		"a zone behind": {-8 * time.Hour, ""},
		"no offset":     {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			for i := range f.messages {
				f.messages[i].at = time.Now().Add(-time.Duration(i) * 10 * time.Hour)
			}
			f.usePages(4)
			f.changeRows(func(row object, m fakeMessage) { row["at"] = m.at.UTC().Add(tt.off).Format(time.DateTime) })
			got := listFake(t, f, names)
			assert.Equal(t, tt.want, got.grades["created"], got.out)
			if tt.want == wrong {
				assert.NotContains(t, got.grades, "time of a row", "it is known to be wrong")
				assert.Equal(t, "a row was created 8.0 h ahead of the clock of this computer: see sms.list.zone", got.why["created"])
				assert.Equal(t, cli.ExitRefused, got.status)
			}
		})
	}
}

// TestTimeOfRow: without --send only a person sees that a time is in another zone.
func TestTimeOfRow(t *testing.T) {
	const layout = "2006-01-02T15:04Z07:00"
	f := newFake()
	at := time.Date(2026, time.November, 28, 14, 5, 11, 0, time.UTC)
	f.changeRows(func(row object, _ fakeMessage) { row["at"] = at.Format(time.DateTime) })
	overlay := strings.Replace(names, `"record"`, `"zone": "Asia/Manila", "record"`, 1)
	began := time.Now()
	got := listFake(t, f, overlay)
	assert.Equal(t, plausible, got.grades["time of a row"], got.out)
	found := regexp.MustCompile(`^the newest row has 2026-11-28T14:05\+08:00, and now it is (\S+): if the service means another time, see sms.list.zone$`).
		FindStringSubmatch(got.why["time of a row"])
	require.NotNil(t, found, got.out)
	now, err := time.Parse(layout, found[1])
	require.NoError(t, err)
	assert.WithinRange(t, now, began.Add(-time.Minute), time.Now())
	assert.Contains(t, found[1], "+08:00", "in the zone of the contract")

	assert.NotContains(t, checkFake(t, newFake(), names).grades, "time of a row", "the time is proven")
}

// usePages has the fake cut its pages to a number of rows, whatever a request asks for.
func (f *fake) usePages(size int) {
	page := f.page
	f.page = func(rows []object, q url.Values) object {
		q.Set("pageSize", strconv.Itoa(size))
		return page(rows, q)
	}
}

// TestUnreadableRowHasID: a row that cannot be read is found by its ID, unless that may be a phone number.
func TestUnreadableRowHasID(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Price is no number, ID m-17", unreadableRow{id: "m-17", reason: "Price is no number"}.describe())
	assert.Equal(t, "Price is no number", unreadableRow{id: "639171230001", reason: "Price is no number"}.describe())
}

// TestUnreadableRowOfAnotherPage: a row that cannot be read is reported once, even if only a page sorted by time or the second page has it.
func TestUnreadableRowOfAnotherPage(t *testing.T) {
	unsorted := strings.Replace(names, `"record"`, `"params": {"sortBy": "", "order": ""}, "record"`, 1)
	for name, tt := range map[string]struct {
		overlay string
		size    int
	}{
		"sorted": {names, 3},
		"second": {unsorted, 4},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.usePages(tt.size)
			f.changeRows(func(row object, m fakeMessage) {
				if m.ref == "order-0" { // the newest, which is the last in a list without an order
					row["price"] = object{"colour": "red"}
				}
			})
			got := listFake(t, f, tt.overlay)
			assert.Equal(t, proven, got.grades["listing"], got.out)
			assert.Equal(t, proven, got.grades["paging"], got.out)
			assert.Equal(t, wrong, got.grades["other pages"], got.out)
			assert.Equal(t, "1 row of other pages cannot be read in full; the first: Price is neither a text nor a number (price)", got.why["other pages"])
			assert.Equal(t, cli.ExitRefused, got.status)
		})
	}
}
