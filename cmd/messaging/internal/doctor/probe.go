package doctor

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// call is a call of the client, and the response to its last request.
type call struct {
	err   error
	x     *exchange // nil if there was no request
	doc   document.Node
	wrong error // why there is no document
}

// call makes a call within the timeout, and says on the progress what it is if it takes longer than a second.
func (d *doctor) call(ctx context.Context, operation, what string, f func(ctx context.Context) error) (c call) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, operationKey{}, operation), d.timeout)
	defer cancel()
	timer := time.AfterFunc(time.Second, func() { d.say("%s ...", what) })
	defer timer.Stop()
	c.err = f(ctx)
	c.x = d.recorder.take()
	if c.wrong = errors.New("there is no response"); c.x != nil && c.x.status != 0 {
		c.doc, c.wrong = parse(c.x.body.Bytes())
	}
	return c
}

// parse parses a body, which may be hostile.
func parse(body []byte) (document.Node, error) {
	doc := document.Parse(body)
	switch body = bytes.TrimSpace(body); {
	case len(body) == 0:
		return doc, errors.New("the body is empty")
	case body[0] == '<':
		return doc, errors.New("the body is HTML, not JSON")
	case !doc.Exists() && string(body) != "null":
		return doc, errors.New("the body is not JSON")
	}
	return doc, nil
}

// lookup is one page of the listing.
type lookup struct {
	call

	page sms.Page
	path string          // of the rows
	rows []document.Node // nil if there is no list at the paths of the contract
}

// fetch requests one page.
func (d *doctor) fetch(ctx context.Context, what string, options sms.ListOptions) (l lookup) {
	if d.table.SMSList.Params["pageSize"] == "" {
		options.PageSize = 0
	}
	l.call = d.call(ctx, "sms.list", what, func(ctx context.Context) (err error) {
		for l.page, err = range d.client.SMS.Pages(ctx, options) {
			break
		}
		if errors.Is(err, messaging.ErrRow) {
			return nil // seen in the columns
		}
		return err
	})
	d.findRows(&l)
	return l
}

func (d *doctor) findRows(l *lookup) {
	for _, path := range d.table.SMSList.Items {
		if n := l.doc.At(path); n.IsList() {
			l.path, l.rows = path, n.List()
			break
		}
	}
	d.see(l.rows)
}

// ask requests one page with no parameter of the contract, only with those that are given.
func (d *doctor) ask(ctx context.Context, what string, params url.Values) (l lookup) {
	if d.plain == nil {
		d.plain = d.withoutParams()
	}
	l.call = d.call(ctx, "sms.list", what, func(ctx context.Context) (err error) {
		for l.page, err = range d.plain.SMS.Pages(ctx, sms.ListOptions{Extra: params}) {
			break
		}
		if errors.Is(err, messaging.ErrRow) {
			return nil
		}
		return err
	})
	d.findRows(&l)
	return l
}

// withoutParams returns a client whose contract names no parameter of the listing, so that any can be tried.
func (d *doctor) withoutParams() *messaging.Client {
	list := d.table.SMSList
	page, _ := list.CursorInLastRow()
	lines := []line{
		{[]string{"sms.list", "paging", "by"}, "none"},
		{[]string{"sms.list", "page", "next"}, anyList(page["next"])},
	}
	for concept := range list.Params {
		lines = append(lines, line{[]string{"sms.list", "params", concept}, ""})
	}
	_, names, err := d.overlay.with(lines)
	if err != nil {
		return d.client // never: a contract may do without parameters
	}
	client, err := d.client.With(messaging.WithContract(names))
	if err != nil {
		return d.client
	}
	return client
}

// isRefusal reports whether the service refused a request because of what it holds.
func (c call) isRefusal() bool {
	return c.x != nil && (c.x.status == http.StatusBadRequest || c.x.status == http.StatusUnprocessableEntity)
}

// isPage reports whether the response is one, with or without rows.
func (l lookup) isPage() bool { return l.x != nil && l.x.status/100 == 2 && l.rows != nil }

// examineStrictness finds out whether the service refuses parameters that it does not know, and what it says of those that it knows.
func (d *doctor) examineStrictness(ctx context.Context) {
	l := d.ask(ctx, "asking with a parameter that no service knows", url.Values{"doctor_unknown": {"1"}})
	if d.isStrict = !l.isPage(); d.isStrict {
		d.add("parameters", Note, "the service refuses parameters that it does not know")
		d.hint(l.x)
		d.unknownParam = l.x.pattern("doctor_unknown")
	}
}

// pattern returns the status and the body of a response without a name.
func (x *exchange) pattern(name string) string {
	return strconv.Itoa(x.status) + " " + strings.ReplaceAll(x.body.String(), name, "\x00")
}

// known returns those of some names that the service knows, if it refuses others: it refuses them in another way, or not at all.
func (d *doctor) known(ctx context.Context, names []string) (known []string) {
	const most = 80
	if !d.isStrict {
		return names
	}
	for _, name := range names[:min(len(names), most)] {
		l := d.ask(ctx, "looking for names that the service knows", url.Values{name: {"1"}})
		if l.x != nil && l.x.status != 0 && l.x.pattern(name) != d.unknownParam {
			known = append(known, name)
		}
	}
	return known
}

var identifier = regexp.MustCompile(`[A-Za-z_$][A-Za-z0-9_$]*(?:[.\[][A-Za-z0-9_$-]+\]?|-[A-Za-z0-9_$]+)*`)

// hint keeps the names that a response mentions, except those that the request had.
func (d *doctor) hint(x *exchange) {
	const most, longest, enough = 64, 40, 1 << 14
	if x == nil {
		return
	}
	for _, name := range identifier.FindAllString(x.body.String()[:min(x.body.Len(), enough)], -1) {
		isOurs := x.url.Query().Has(name) || d.sensitive[name]
		if len(d.hints) < most && len(name) <= longest && !isOurs && !slices.Contains(d.hints, name) {
			d.hints = append(d.hints, name)
		}
	}
}

// candidates returns names in the order in which they are tried: those that the service mentioned come first.
func (d *doctor) candidates(lists ...[]string) (names []string) {
	all := slices.Concat(lists...)
	for _, wanted := range []bool{true, false} {
		for _, name := range all {
			if name != "" && slices.Contains(d.hints, name) == wanted && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// effective returns the one of some names that has an effect, or "". shows makes a request with some of the names, and reports whether
// the response shows an effect, and whether it is a refusal. A service that ignores what it does not know is asked with many at once.
func (d *doctor) effective(ctx context.Context, names []string, shows func(names ...string) (effect, refused bool)) string {
	if len(names) == 0 || ctx.Err() != nil {
		return ""
	}
	effect, refused := false, d.isStrict
	if !refused {
		effect, refused = shows(names...)
	}
	if refused {
		const most = 40
		for _, name := range names[:min(len(names), most)] {
			if alone, _ := shows(name); alone {
				return name
			}
		}
		return ""
	}
	if !effect {
		return ""
	}
	for len(names) > 1 {
		half := names[:(len(names)+1)/2]
		if effect, _ = shows(half...); effect {
			names = half
		} else {
			names = names[len(half):]
		}
	}
	if effect, _ = shows(names[0]); !effect {
		return ""
	}
	return names[0]
}

// named returns parameters of which each of some names has a value, beside others.
func named(value string, names []string, others url.Values) url.Values {
	params := url.Values{}
	maps.Copy(params, others)
	for _, name := range names {
		params.Set(name, value)
	}
	return params
}

// anyList returns a list as an overlay has it.
func anyList(list []string) []any {
	all := make([]any, len(list))
	for i, value := range list {
		all[i] = value
	}
	return all
}

// styled returns phrases as the names that programmers make of them.
func styled(phrases ...string) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, phrase := range phrases {
		words := strings.Fields(phrase)
		var capital strings.Builder
		for _, word := range words {
			capital.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		pascal := capital.String()
		add(words[0] + pascal[len(words[0]):])
		add(strings.Join(words, "_"))
		add(strings.Join(words, "-"))
		add(pascal)
		add(strings.Join(words, ""))
	}
	return names
}
