package table

// A Reference refers to a table. The zero Reference refers to the default table.
//
// A contract.Contract embeds one, so that the packages of this module, and no others, can read its table by [Of].
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

// contract is a contract.Contract, whose package imports this one.
type contract interface {
	tableOf() *Table
}

// Of returns the table of a contract. It is shared and must not be changed.
func Of(c contract) *Table { return c.tableOf() }
