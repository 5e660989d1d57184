package check

// pagedRows has the keys of the rows of two pages.
type pagedRows struct {
	first, second map[string]bool
	larger        map[string]bool // of a larger first page
}

// repeats reports whether the second page has most rows of the first. Messages that came between the requests move a few of these, but a
// position that the service counts in another unit repeats most of them.
func (r pagedRows) repeats() bool { return r.repeated() > len(r.first)/2 }

// repeated returns how many rows of the first page the second has, too.
func (r pagedRows) repeated() int { return countCommon(r.first, r.second) }

func (r pagedRows) describeRepeated() string {
	return "the second page repeats " + countRows(r.repeated()) + " of the first"
}

// isAmbiguous reports whether the pages are so small that the second can begin at the same row, whether its position counts rows or pages: the
// row at offset 2 is the first of page 2 of two rows.
func (r pagedRows) isAmbiguous() bool { return len(r.first) <= 2 }

// beginsElsewhere reports whether the first page has no row of a larger first page.
func (r pagedRows) beginsElsewhere() bool { return countCommon(r.first, r.larger) == 0 }

// following returns the rows that follow the first page in a larger page.
func (r pagedRows) following() map[string]bool { return without(r.larger, r.first) }

// countCommon returns how many keys are in both sets.
func countCommon(a, b map[string]bool) int {
	n := 0
	for key := range a {
		if b[key] {
			n++
		}
	}
	return n
}

// without returns the keys of a set that another does not have.
func without(keys, other map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for key := range keys {
		if !other[key] {
			rest[key] = true
		}
	}
	return rest
}
