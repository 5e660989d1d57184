package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// useOverlay uses the overlay as a program would that reads it: it is parsed, and lists.
func (d *doctor) useOverlay(ctx context.Context) {
	const most = 2000
	d.section = "overlay"
	if d.first.rows == nil {
		return
	}
	names, err := contract.Parse([]byte(d.overlay.pretty()))
	if err != nil {
		d.add("parsed", Differs, "refused, which is a fault of the doctor")
		return
	}
	client, err := d.client.With(messaging.WithContract(names))
	if err != nil {
		d.add("parsed", Differs, "refused by the client: "+describe(err))
		return
	}
	listed, unread := 0, 0
	c := d.call(ctx, "sms.list", "listing with the overlay", func(ctx context.Context) error {
		var failed error
		for tx, err := range client.SMS.List(ctx, sms.ListOptions{PageSize: d.someRows()}) {
			switch {
			case errors.Is(err, messaging.ErrRow):
				unread++
			case err != nil:
				failed = err
			case tx.ID == "":
				unread++
			}
			if listed++; listed == most {
				break
			}
		}
		return failed
	})
	switch {
	case listed == 0 && c.err == nil:
		d.add("lists", Unknown, "no row, so nothing was read")
	case c.err != nil:
		d.add("lists", Differs, fmt.Sprintf("after %d rows: %s", listed, describe(c.err)))
	case listed < len(d.rows):
		d.add("lists", Differs, fmt.Sprintf("%d rows, of at least %d that the account has", listed, len(d.rows)))
	case unread > 0:
		d.add("lists", Differs, fmt.Sprintf("%d rows, of which %d cannot be read in full, or have no ID", listed, unread))
	default:
		d.add("lists", OK, fmt.Sprintf("%d rows, and reads each", listed))
	}
}

// result returns the worst result of the checks of some sections that have one of some names, and what the worst says; "" if there is
// none. Without names all count.
func (r *Report) result(sections []string, names ...string) (Result, string) {
	order := []Result{Differs, Unknown, OK}
	best, detail := len(order), ""
	for _, c := range r.Checks {
		isIt := slices.Contains(sections, c.Section) && (len(names) == 0 || slices.Contains(names, c.Name))
		i := slices.Index(order, c.Result)
		if c.Overlay != "" { // mended by the overlay
			i = slices.Index(order, OK)
		}
		if isIt && i >= 0 && i < best {
			best, detail = i, c.Name+": "+c.Detail
		}
	}
	if best == len(order) {
		return "", ""
	}
	return order[best], detail
}

// summarize says what works with the overlay, what does not, and what to do next.
func (s *settings) summarize(d *doctor) {
	r := d.report
	type ability struct{ name, next string }
	var does, doesNot, open []string
	next := ""
	judge := func(a ability, result Result, detail string) {
		switch result {
		case OK:
			does = append(does, a.name)
			return
		case Differs, Unknown:
			doesNot = append(doesNot, a.name+" ("+detail+")")
		default:
			open = append(open, a.name)
		}
		if next == "" {
			next = a.next
		}
	}
	if s.baseURL != "" {
		if result, detail := r.result([]string{"address"}); result != OK {
			judge(ability{"reach the service", "see to the address and the credentials"}, result, detail)
		}
		result, detail := r.result([]string{"overlay"}, "parsed", "lists")
		if result == "" {
			if result, detail = r.result([]string{"listing"}); result != Unknown {
				result, detail = Unknown, "it was not tried"
			}
		}
		judge(ability{"list", "look up in the documentation of the service what the lines above under LISTING and PAGING name"}, result, detail)
		next1 := "run it again with -send NUMBER -from SENDER: only a message that was sent proves what sends and settling need"
		if s.send != "" {
			next1 = "look up in the documentation of the service what the lines under SEND name: until then no send can be judged"
		}
		result, detail = r.result([]string{"send"}, "verdict", "duplicate")
		if d.isWithout && result == OK {
			result, detail = r.result([]string{"send"}, "field reference")
		}
		judge(ability{"send", next1}, result, detail)
		result, detail = r.result([]string{"filters"},
			"reference that exists", "reference that does not", "reference that is cut", "reference")
		if sent, why := r.result([]string{"send"}, "verdict", "listed", "reference ID"); sent != OK && result == OK {
			result, detail = sent, why
		}
		settle := "find out by what name the service filters by the reference ID (sms.list.params.reference): without it nothing settles an unknown outcome"
		if s.send == "" {
			settle = next1
		}
		judge(ability{"settle", settle}, result, detail)
	}
	if s.listen != "" {
		for _, name := range callbackNames() {
			if d.heard[name] {
				result, detail := r.result(d.sectionsOf(name))
				judge(ability{"callbacks of webhook." + name, "see the lines of the callbacks"}, result, detail)
			}
		}
	}
	if len(d.heard) == 0 {
		judge(ability{"callbacks", "run it with --listen :8080 while the service calls back"}, "", "")
	}
	if next == "" {
		next = "nothing: use the overlay"
		if len(d.overlay) == 0 {
			next = "nothing: the default contract fits"
		}
	}
	r.Summary = Summary{Works: does, Fails: doesNot, Untried: open, Next: next}
}

// fault says why the overlay was not seen to work, or "": it lists, and sends if that was asked for.
func (s *settings) fault(d *doctor) string {
	wanted := map[string]string{"lists": "it was not seen to list", "sends": "it was not seen to send"}
	if s.baseURL == "" {
		return "" // callbacks alone
	}
	if s.send == "" {
		delete(wanted, "sends")
	}
	for _, name := range sortedKeys(wanted) {
		if result, _ := d.report.result([]string{"overlay"}, name, "parsed"); result != OK {
			return wanted[name]
		}
	}
	if result, _ := d.report.result([]string{"send"}, "verdict"); result == Differs {
		return wanted["sends"]
	}
	return ""
}

// sectionsOf returns the sections of the callbacks of a kind.
func (d *doctor) sectionsOf(name string) (sections []string) {
	for _, c := range d.report.Checks {
		if strings.HasSuffix(c.Section, ": webhook."+name) {
			sections = append(sections, c.Section)
		}
	}
	return sections
}
