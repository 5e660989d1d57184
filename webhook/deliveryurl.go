package webhook

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/contract"
)

// DeliveryURL makes the callback URL that a send names, so that the service reports delivery to the handler of Delivery with
// what it needs: base is where that handler is mounted, as the service reaches it.
//
//	callback, err := webhook.DeliveryURL("https://shop.example.com/hooks/dlr", webhook.WithSecret("key", secret))
//	// https://shop.example.com/hooks/dlr?key=...&status=%s&id=%i&referenceId=%r&timestamp=%d&transactionType=%tr&from=%f&to=%t
//
// The placeholders, %s and so on, are what the service replaces. They stand in the URL as raw text, so the result is no URL
// that package net/url reads, and has to be passed on byte for byte, as sms.Message.CallbackURL is. Which they are, and under
// which parameters they stand, is a default of the contract (webhook.delivery): the specification shows neither.
//
// With WithSecret the first secret goes in front, escaped; with WithPathSecret the first secret takes the place of {name} in
// the path of base, where that stands there. Else base stays as it is, byte for byte. What it has in its own query stays
// too, and a fact that stands there under one of its names is not asked for again.
//
// The error says what is wrong, without the URL: no absolute http or https URL, a fragment, white space or control
// characters, a parameter of WithSecret that base has already, or a contract that places neither message ID nor reference
// ID. It is safe for concurrent use. The same URL serves for all messages.
func DeliveryURL(base string, opts ...Option) (string, error) {
	s := newSettings(opts)
	s.check(deliveryOf(&s))
	place := s.wire.callback
	if place == nil {
		place = new(contract.Default().WebhookDelivery)
	}
	if err := checkBase(base); err != nil {
		return "", err
	}
	base = s.withPathSecrets(base)
	_, query, _ := strings.Cut(base, "?")
	have := map[string]bool{}
	for segment := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(segment, "=")
		have[decode(name)] = true
	}
	b := callbackURL{}
	b.WriteString(base)
	for _, secret := range s.secrets {
		if have[secret.name] {
			return "", errors.New("webhook: DeliveryURL: the base URL has the parameter of WithSecret already")
		}
		b.add(secret.name, url.QueryEscape(secret.first()))
	}
	identified := false
	for _, fact := range []struct {
		names       []string
		placeholder string
		identifies  bool
	}{
		{place.Params.Status, place.Placeholders.Status, false},
		{place.Params.ID, place.Placeholders.ID, true},
		{place.Params.Reference, place.Placeholders.Reference, true},
		{place.Params.Time, place.Placeholders.Time, false},
		{place.Params.Kind, place.Placeholders.Kind, false},
		{place.Params.From, place.Placeholders.From, false},
		{place.Params.To, place.Placeholders.To, false},
	} {
		placed := false
		for _, name := range fact.names {
			placed = placed || have[name]
		}
		if !placed && len(fact.names) > 0 && fact.placeholder != "" {
			if strings.ContainsAny(fact.placeholder, "&#") || strings.ContainsFunc(fact.placeholder, breaksURL) {
				return "", errors.New("webhook: DeliveryURL: a placeholder of the contract cannot stand in a URL")
			}
			b.add(fact.names[0], fact.placeholder)
			placed = true
		}
		identified = identified || placed && fact.identifies
	}
	if !identified {
		return "", errors.New("webhook: DeliveryURL: the contract places neither message ID nor reference ID, so no report could be told from another")
	}
	return b.String(), nil
}

// callbackURL is a URL that parameters are added to.
type callbackURL struct{ strings.Builder }

// add adds a parameter whose value is as it has to stand there.
func (b *callbackURL) add(name, value string) {
	switch _, query, ok := strings.Cut(b.String(), "?"); {
	case !ok:
		b.WriteByte('?')
	case query != "" && !strings.HasSuffix(query, "&"):
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(name))
	b.WriteByte('=')
	b.WriteString(value)
}

// checkBase says what is wrong with a base URL. It may hold placeholders behind its host, which are no escapes, so package
// net/url decides about what stands before them alone. What passes here passes where a message is sent.
func checkBase(base string) error {
	scheme, rest, ok := strings.Cut(base, "://")
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	u, err := url.Parse("https://" + authority)
	switch {
	case !utf8.ValidString(base) || strings.ContainsFunc(base, breaksURL):
		return errors.New("webhook: DeliveryURL: the base URL holds white space, control characters or what is not UTF-8")
	case !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") ||
		err != nil || strings.Trim(u.Hostname(), ".") == "" || strings.ContainsAny(u.Host, "%\"<>"):
		return errors.New("webhook: DeliveryURL: the base URL is not absolute: want http:// or https:// and a host")
	case strings.Contains(base, "#"):
		return errors.New("webhook: DeliveryURL: the base URL has a fragment, which no server sees")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("webhook: DeliveryURL: the port of the base URL is not a number up to 65535")
		}
	}
	return nil
}

func breaksURL(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// withPathSecrets puts the secrets in their places in the path.
func (s *settings) withPathSecrets(base string) string {
	path, query, ok := strings.Cut(base, "?")
	for _, secret := range s.pathSecrets {
		path = strings.ReplaceAll(path, "{"+secret.name+"}", url.PathEscape(secret.first()))
	}
	if ok {
		return path + "?" + query
	}
	return path
}

// defaultPlaceholder gives the placeholder of a fact in the default contract, "" for none.
func defaultPlaceholder(c concept) string {
	switch c {
	case ofStatus:
		return "%s"
	case ofID:
		return "%i"
	case ofReference:
		return "%r"
	case ofTime:
		return "%d"
	case ofKind:
		return "%tr"
	case ofFrom:
		return "%f"
	case ofTo:
		return "%t"
	default:
		return ""
	}
}

func compilePlaceholders(p contract.Placeholders) func(concept) string {
	table := map[concept]string{
		ofStatus: p.Status, ofID: p.ID, ofReference: p.Reference, ofTime: p.Time, ofKind: p.Kind, ofFrom: p.From, ofTo: p.To,
	}
	return func(c concept) string { return table[c] }
}
