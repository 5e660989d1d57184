package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// A concept of a row that most programs need.
type rowConcept struct {
	name string
	has  func(sms.Transaction) bool
}

// rowConcepts returns what the report counts, in its order.
func rowConcepts() []rowConcept {
	return []rowConcept{
		{"id", func(tx sms.Transaction) bool { return tx.ID != "" }},
		{"reference", func(tx sms.Transaction) bool { return tx.ReferenceID != "" }},
		{"from", func(tx sms.Transaction) bool { return tx.From != "" }},
		{"to", func(tx sms.Transaction) bool { return tx.To != "" }},
		{"created", func(tx sms.Transaction) bool { return !tx.CreatedAt.IsZero() }},
		{"status", func(tx sms.Transaction) bool { return tx.DeliveryStatus != "" || tx.SendStatus != "" }},
		{"price", func(tx sms.Transaction) bool { return tx.Price != "" }},
	}
}

// checkValues counts the rows that have a value for each concept, and looks for the names that the contract has of its own.
func (c *checker) checkValues() {
	if len(c.listed.rows) == 0 {
		return
	}
	var counts []string
	for _, concept := range rowConcepts() {
		n := 0
		for _, tx := range c.listed.transactions {
			if concept.has(tx) {
				n++
			}
		}
		counts = append(counts, fmt.Sprintf("%s %d", concept.name, n))
	}
	why := "of " + countRows(len(c.listed.transactions)) + ": " + strings.Join(counts, ", ")
	c.report.add("values", "sms.list.record", finding{plausible, why})
	c.checkPrice()
	c.checkNames()
}

// checkPrice shows the price of a row, so that a wrong scale is seen. Without a price the counts say so.
func (c *checker) checkPrice() {
	hasPrice := func(tx sms.Transaction) bool { return tx.Price != "" }
	i := slices.IndexFunc(c.listed.transactions, hasPrice)
	if i < 0 {
		return
	}
	why := "a row has " + describePrice(c.listed.transactions[i]) + ": if the service means another amount, see sms.list.scale and the paths of price"
	c.report.add("price of a row", "sms.list.scale", finding{plausible, why})
}

var (
	longNumber   = regexp.MustCompile(`^-?([0-9]{7,})`)
	currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)
)

// describePrice returns the price of a row as it is read. Of a long number, which may be a phone number at a wrong path, it shows how long it is.
func describePrice(tx sms.Transaction) string {
	price := tx.Price
	if whole := longNumber.FindStringSubmatch(price); whole != nil {
		price = fmt.Sprintf("a price of %d digits before the decimal point", len(whole[1]))
	}
	if currencyCode.MatchString(tx.Currency) {
		price += " " + tx.Currency
	}
	return price
}

// checkNames finds concepts whose names come from the overlay and are in no row. A name with null or an empty value in a row is not wrong.
func (c *checker) checkNames() {
	record := c.names.SMSList.Record
	defaults := table.Default().SMSList.Record
	concepts := slices.Sorted(maps.Keys(record))
	for _, concept := range concepts {
		paths := record[concept]
		isDefault := slices.Equal(paths, defaults[concept])
		isInRow := func(row document.Node) bool {
			return slices.ContainsFunc(paths, func(path string) bool { return hasMember(row, path) })
		}
		if len(paths) == 0 || isDefault || slices.ContainsFunc(c.listed.rows, isInRow) {
			continue
		}
		why := "not found: none of " + countRows(len(c.listed.rows)) + " has " + strings.Join(paths, " or ")
		path := "sms.list.record." + concept
		c.report.dropPlausible(path)
		c.report.add("name of "+concept, path, finding{wrong, why})
	}
}

// checkPageNames says of each name of sms.list.page that comes from the overlay whether a response had it. The last page may lack a name, so
// that an absent one is wrong only if a second page was read.
func (c *checker) checkPageNames() {
	page := c.names.SMSList.Page
	defaults := table.Default().SMSList.Page
	for _, concept := range slices.Sorted(maps.Keys(page)) {
		paths := page[concept]
		if len(paths) == 0 || slices.Equal(paths, defaults[concept]) || len(c.listed.rows) == 0 {
			continue
		}
		c.report.add("name of page."+concept, "sms.list.page."+concept, c.judgePageName(strings.Join(paths, " or "), paths))
	}
}

func (c *checker) judgePageName(name string, paths []string) finding {
	isInPage := func(page document.Node) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return c.names.hasPageMember(page, path) })
	}
	switch {
	case slices.ContainsFunc(c.lister.responses.bodies, isInPage):
		return finding{plausible, "found: a response has " + name}
	case c.lister.responses.hasSecondPage:
		return finding{wrong, "not found: no response has " + name}
	}
	return finding{plausible, "not found: no response has " + name + ", which a last page may lack"}
}
