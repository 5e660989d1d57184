package learn

import (
	"slices"
	"strings"
)

// moneyHints adds comments about amounts that the contract does not read, and about whole numbers, which may be of a smaller unit.
type moneyHints struct {
	overlay      *overlay
	section, key string              // of the contract
	concepts     []string            // the first is the one to write
	learned      lists               // paths by concept
	defaults     map[string][]string // paths by concept
}

// rowMoney returns the hints about amounts of rows.
func rowMoney(o *overlay) moneyHints {
	return moneyHints{
		overlay:  o,
		section:  sectionList,
		key:      "record",
		concepts: []string{"price"},
		learned:  o.List.Record,
		defaults: o.defaults.SMSList.Record,
	}
}

// responseMoney returns the hints about amounts of accepted responses.
func responseMoney(o *overlay) moneyHints {
	return moneyHints{
		overlay:  o,
		section:  sectionSend,
		key:      "response",
		concepts: []string{"cost", "unitCost"},
		learned:  o.Send.Response,
		defaults: o.defaults.SMSSend.Response,
	}
}

// note adds the comments about the first amount of an example that the contract reads, or else about the first one by its name.
func (h moneyHints) note(leaves []leaf) {
	amounts := slices.DeleteFunc(slices.Clone(leaves), func(at leaf) bool { return !isAmount.MatchString(at.word) })
	if amount, isRead := first(amounts, h.reads); isRead {
		h.noteScale(amount)
		return
	}
	hasName := func(at leaf) bool { return amountName.match(at.name) }
	if amount, isNamed := first(amounts, hasName); isNamed {
		h.overlay.warn("not learned: if "+amount.path+" is the price, write "+contractLine(h.concepts[0], amount.path), h.section, h.key)
		h.noteScale(amount)
	}
}

// reads reports whether the new contract reads an amount.
func (h moneyHints) reads(at leaf) bool {
	isAt := func(concept string) bool { return slices.Contains(h.learned.orDefault(concept, h.defaults), at.path) }
	return slices.ContainsFunc(h.concepts, isAt)
}

// noteScale adds a comment about a whole number, which may be of a smaller unit.
func (h moneyHints) noteScale(amount leaf) {
	isWhole := !strings.Contains(amount.word, ".")
	if isWhole && amount.word != "0" {
		const units = ` is a whole number: write "scale": -2 if it is in hundredths, -3 in thousandths, -6 in millionths`
		h.overlay.warn("not learned: "+amount.path+units, h.section, "scale")
	}
}

// noteCurrency adds a comment about the currency of a row that the contract does not read.
func (o *overlay) noteCurrency(members []leaf) {
	isCurrency := func(at leaf) bool {
		return currencyName.match(at.name) && currencyCode.MatchString(at.word)
	}
	currency, hasCurrency := first(members, isCurrency)
	if hasCurrency && !o.readsMember(currency.path) {
		o.warn("not learned: if "+currency.path+" is the currency, write "+contractLine("currency", currency.path), sectionList, "record")
	}
}
