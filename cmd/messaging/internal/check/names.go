package check

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// wireNames are the names of the contract, by which the check reads responses itself.
type wireNames struct {
	*table.Table
}

// rowsIn returns the rows of a response, and reports whether the contract finds a list of them.
func (n wireNames) rowsIn(body document.Node) (rows []document.Node, hasList bool) {
	for _, path := range n.SMSList.Items {
		if list := body.At(path); list.IsList() {
			return list.List(), true
		}
	}
	return nil, false
}

// keysOf returns what tells rows apart: their IDs, or all their members if they have none.
func (n wireNames) keysOf(rows []document.Node) map[string]bool {
	keys := map[string]bool{}
	for _, row := range rows {
		key := n.value(row, "id")
		if key == "" {
			key = document.Encode(row.Value)
		}
		keys[key] = true
	}
	return keys
}

// value returns the value of a row for a concept of the contract, or "".
func (n wireNames) value(row document.Node, concept string) string {
	for _, path := range n.SMSList.Record[concept] {
		if text := strings.TrimSpace(row.At(path).Text()); text != "" {
			return text
		}
	}
	return ""
}

// hasValue reports whether a row has a value for a concept. A recipient may be written without its + or as a tel: URI.
func (n wireNames) hasValue(row document.Node, concept, value string) bool {
	got := n.value(row, concept)
	if concept == "to" {
		got = strings.TrimPrefix(table.Number(got), "+")
		value = strings.TrimPrefix(value, "+")
	}
	return value != "" && got == value
}

// belongsTo returns a function that reports whether a row has the reference or the text of a message.
func (n wireNames) belongsTo(m *message) func(row document.Node) bool {
	return func(row document.Node) bool {
		return n.hasValue(row, "reference", m.values["reference"]) || n.hasValue(row, "text", m.values["text"])
	}
}

// hasPageMember reports whether a response has a member at a path, which may be one of its last row.
func (n wireNames) hasPageMember(page document.Node, path string) bool {
	inRow, isOfRow := strings.CutPrefix(path, table.LastRow)
	if !isOfRow {
		return hasMember(page, path)
	}
	rows, _ := n.rowsIn(page)
	return len(rows) > 0 && hasMember(rows[len(rows)-1], inRow)
}

// hasMember reports whether a row has a member or an element at a path, which may be null.
func hasMember(row document.Node, path string) bool {
	end := strings.LastIndexByte(path, '.')
	parent := row.At(path[:max(0, end)])
	name := path[end+1:]
	if parent.IsList() {
		i, err := strconv.Atoi(name)
		return err == nil && i >= 0 && i < len(parent.List())
	}
	_, isMember := parent.Object()[name]
	return isMember
}

// canSort reports whether the contract names both parameters of an order.
func (n wireNames) canSort() bool {
	params := n.SMSList.Params
	return params["sortBy"] != "" && params["order"] != ""
}

// knowsSendStatus reports whether the contract knows what a word means as the send status of a row.
func (n wireNames) knowsSendStatus(word string) bool {
	isFailure := func(meaning contract.Status) bool {
		return table.Match(n.WebhookDelivery.Statuses[string(meaning)], word, true) >= 0
	}
	words := slices.Concat(n.SMSSend.Accepted, n.SMSSend.Refused)
	return table.Match(words, word, true) >= 0 || isFailure(contract.StatusFailed) || isFailure(contract.StatusRejected)
}

// formatTime returns a time in the zone of the contract.
func (n wireNames) formatTime(at time.Time) string {
	const layout = "2006-01-02T15:04Z07:00"
	zone, err := time.LoadLocation(n.SMSList.Zone)
	if err != nil { // never: the contract was checked
		zone = time.UTC
	}
	return at.In(zone).Format(layout)
}
