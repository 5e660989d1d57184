package check

import (
	"fmt"
	"strings"
	"unicode"
)

// checkSendStatus says how many of the rows of all pages have no send status, or an unknown word: the verdict of none of them is refused,
// even if the service refused its message. It shows no word, which may be something else at a wrong path.
func (c *checker) checkSendStatus() {
	if len(c.lister.seen.statuses) == 0 {
		return
	}
	counts := statusCounts{rows: len(c.lister.seen.statuses)}
	for _, status := range c.lister.seen.statuses {
		switch {
		case status == "":
			counts.absent++
		case !strings.ContainsFunc(status, unicode.IsLetter):
			counts.numbers++
		case c.names.knowsSendStatus(status):
			counts.known++
		default:
			counts.unknown++
		}
	}
	path, f := judgeSendStatus(counts)
	c.report.add("send status", path, f)
}

// statusCounts counts rows by their send status.
type statusCounts struct {
	rows    int // all
	absent  int
	numbers int
	known   int // words that the contract knows
	unknown int // other words
}

// judgeSendStatus judges the send status of the rows, and returns the path in the contract that decides about it.
func judgeSendStatus(counts statusCounts) (path string, f finding) {
	const neverRefused = ": the verdict of a row is never refused, not even if the service refused its message"
	all := countRows(counts.rows)
	switch {
	case counts.unknown > 0:
		why := fmt.Sprintf("%d of %s have a word that the contract does not know, and count as accepted: see sms.send.accepted, sms.send.refused",
			counts.unknown, all)
		return "sms.send.refused", finding{plausible, why}
	case counts.absent == counts.rows:
		return "sms.list.record.sendStatus", finding{plausible, "none of " + all + " has a send status" + neverRefused}
	case counts.known == 0:
		why := fmt.Sprintf("%d of %s have a number, and none has a word", counts.numbers, all) + neverRefused
		return "sms.list.record.sendStatus", finding{plausible, why}
	}
	why := fmt.Sprintf("%d of %s have a word that the contract knows", counts.known, all)
	return "sms.list.record.sendStatus", finding{plausible, why}
}
