package learn

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// warn adds a note that is printed, too.
func (l *learner) warn(text string, keys ...string) {
	l.overlay.note(text, keys...)
	l.warnings = appendNew(l.warnings, strings.Join(keys, ".")+": "+text)
}

// learnTotal learns the number of all rows by its name. A number that may count the rows of a page would end a listing early: only a comment
// names it.
func (l *learner) learnTotal(outside []leaf, names words) {
	var unsure []string
	for _, at := range outside {
		n, err := strconv.Atoi(at.word)
		if err != nil || names.has(at.path) {
			continue
		}
		isTotal := totalName.match(at.name)
		switch {
		case slices.Contains(l.defaults.SMSList.Page["total"], at.path):
			return
		case isTotal && l.exceedsPage(n, names):
			names.add("total", at.path)
			return
		case isTotal || countName.match(at.name):
			unsure = append(unsure, at.path)
		}
	}
	for _, path := range unsure {
		l.warn("not learned: if "+path+" counts the rows of all pages, write "+contractLine("total", path), sectionList, "page")
	}
}

// exceedsPage reports whether a number is more than a page can hold. The example may leave out rows, so that the size of a page is in its request
// alone. If the response says otherwise whether a page follows, no total ends the listing, and the rows of the example are enough.
func (l *learner) exceedsPage(n int, names words) bool {
	saysWhatFollows := len(names["hasNext"]) > 0 || len(names["next"]) > 0
	if !saysWhatFollows {
		return l.pageSize > 0 && n > l.pageSize
	}
	if len(l.overlay.List.Items) != 1 {
		return false
	}
	rows := document.Parse([]byte(l.examples.row.text)).At(l.overlay.List.Items[0]).List()
	return n > len(rows)
}

// contractLine returns a line of a contract with one path.
func contractLine(concept, path string) string { return fmt.Sprintf("%q: [%q]", concept, path) }

// money is where an example may have an amount of money.
type money struct {
	section, key string              // of the contract
	concepts     []string            // the first is the one to write
	learned      words               // paths by concept
	defaults     map[string][]string // paths by concept
}

// noteMoney adds comments about amounts that the contract does not read, and about whole numbers, which may be of a smaller unit.
func (l *learner) noteMoney() {
	if l.examples.row != nil {
		members := l.rowMembers()
		l.noteCurrency(members)
		l.noteAmount(members, money{sectionList, "record", []string{"price"}, l.overlay.List.Record, l.defaults.SMSList.Record})
	}
	for _, example := range l.examples.accepted {
		response := money{sectionSend, "response", []string{"cost", "unitCost"}, l.overlay.Send.Response, l.defaults.SMSSend.Response}
		l.noteAmount(leavesOf(example.text), response)
	}
}

// noteCurrency adds a comment about the currency of a row that the contract does not read.
func (l *learner) noteCurrency(members []leaf) {
	isCurrency := func(at leaf) bool {
		return currencyName.match(at.name) && currencyCode.MatchString(at.word)
	}
	i := slices.IndexFunc(members, isCurrency)
	if i >= 0 && !l.isRead(members[i].path) {
		path := members[i].path
		l.warn("not learned: if "+path+" is the currency, write "+contractLine("currency", path), sectionList, "record")
	}
}

// noteAmount adds the comments about the first amount of an example that the contract reads, or else about the first one by its name.
func (l *learner) noteAmount(leaves []leaf, m money) {
	amounts := slices.DeleteFunc(slices.Clone(leaves), func(at leaf) bool { return !isAmount.MatchString(at.word) })
	if amount, isRead := first(amounts, m.reads); isRead {
		l.noteScale(amount, m)
		return
	}
	hasName := func(at leaf) bool { return amountName.match(at.name) }
	if amount, isNamed := first(amounts, hasName); isNamed {
		l.warn("not learned: if "+amount.path+" is the price, write "+contractLine(m.concepts[0], amount.path), m.section, m.key)
		l.noteScale(amount, m)
	}
}

// noteScale adds a comment about a whole number, which may be of a smaller unit.
func (l *learner) noteScale(amount leaf, m money) {
	isWhole := !strings.Contains(amount.word, ".")
	if isWhole && amount.word != "0" {
		const units = ` is a whole number: write "scale": -2 if it is in hundredths, -3 in thousandths, -6 in millionths`
		l.warn("not learned: "+amount.path+units, m.section, "scale")
	}
}

// reads reports whether the new contract reads an amount.
func (m money) reads(at leaf) bool {
	isAt := func(concept string) bool {
		paths, isLearned := m.learned[concept]
		if !isLearned {
			paths = m.defaults[concept]
		}
		return slices.Contains(paths, at.path)
	}
	return slices.ContainsFunc(m.concepts, isAt)
}

// noteMessages adds a comment about a refusal whose text is at no path of the new contract.
func (l *learner) noteMessages() {
	paths := l.overlay.Errors.Message
	if paths == nil {
		paths = l.defaults.Errors.Message
	}
	for _, example := range l.examples.refused {
		leaves := leavesOf(example.text)
		isRead := func(at leaf) bool { return slices.Contains(paths, at.path) }
		isSentence := func(at leaf) bool { return at.path != "" && strings.Contains(at.word, " ") }
		i := slices.IndexFunc(leaves, isSentence)
		if i < 0 || slices.ContainsFunc(leaves, isRead) {
			continue
		}
		l.warn("not learned: if "+leaves[i].path+" says why, write "+contractLine("message", leaves[i].path), sectionErrors, "message")
		return
	}
}
