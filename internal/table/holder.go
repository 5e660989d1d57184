package table

// A Holder has a table that only packages of this module can read, by [Of]. A contract.Contract is one.
type Holder interface {
	tableOf() *Table
}

// Of returns the table of a holder. It is shared and must not be changed.
func Of(h Holder) *Table { return h.tableOf() }

// A Reference makes the struct that embeds it a [Holder]. The zero Reference refers to the default table.
type Reference struct {
	table *Table
}

// NewReference returns a reference to a table.
func NewReference(t *Table) Reference { return Reference{table: t} }

func (r Reference) tableOf() *Table {
	if r.table == nil {
		return Default()
	}
	return r.table
}
