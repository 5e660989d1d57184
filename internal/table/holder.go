package table

// A Holder carries a table that only packages of this module can read, by [Of]. A contract.Contract is one.
type Holder interface {
	heldTable() *Table
}

// Of returns the table of a holder. It is shared and must not be changed.
func Of(h Holder) *Table { return h.heldTable() }

// Held makes the struct that embeds it a [Holder]. The zero Held has the default table.
type Held struct {
	table *Table
}

// Hold returns a Held with a table.
func Hold(t *Table) Held { return Held{table: t} }

func (h Held) heldTable() *Table {
	if h.table == nil {
		return Default()
	}
	return h.table
}
