package messagingtest

import (
	"cmp"
	"slices"
	"time"
)

// fallback is the SMS that is to go out in place of a message.
type fallback struct {
	message *row
	due     time.Duration // on the clock
}

// scheduleFallback keeps the fallback of a message that was just accepted until it is due.
func (l *ledger) scheduleFallback(r *row) {
	if after, applies := r.delivery.fallbackAfter(); applies && r.FallbackFrom != "" {
		l.fallbacks = append(l.fallbacks, fallback{r, addDurations(r.delivery.accepted, after)})
		l.sendDueFallbacks()
	}
}

func (l *ledger) sendDueFallbacks() {
	var due []fallback
	l.fallbacks = slices.DeleteFunc(l.fallbacks, func(f fallback) bool {
		if f.due > l.clock.advanced {
			return false
		}
		due = append(due, f)
		return true
	})
	slices.SortStableFunc(due, func(a, b fallback) int { return cmp.Compare(a.due, b.due) })
	for _, f := range due {
		l.sendFallback(f)
	}
}

// sendFallback sends nothing if the balance is too small: there is nobody to be refused.
func (l *ledger) sendFallback(f fallback) {
	chat := f.message.Sent
	parts := countParts(chat.FallbackText)
	if _, ok := l.balance.pay(parts); !ok {
		return
	}
	l.enter(newRow(Sent{
		ID:          l.newID(ChannelSMS),
		Channel:     ChannelSMS,
		Kind:        "text",
		From:        chat.FallbackFrom,
		To:          chat.To,
		Text:        chat.FallbackText,
		CallbackURL: chat.CallbackURL,
		ReferenceID: chat.ReferenceID,
		RequestID:   chat.RequestID,
		FallbackOf:  chat.ID,
		Parts:       parts,
		At:          chat.At.Add(f.due - f.message.delivery.accepted),
	}, len(l.rows)))
}
