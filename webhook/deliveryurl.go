package webhook

import (
	"errors"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DeliveryURL returns the callback URL to name in a send, so that the service reports delivery to the handler of Delivery. The
// base is where that handler is mounted, as the service reaches it. One URL serves all messages.
//
//	callback, err := hooks.DeliveryURL("https://shop.example.com/hooks/dlr")
//
// The URL holds placeholders of the contract, such as %s, which the service replaces. They are raw text, so package net/url
// cannot parse the result: pass it on byte for byte, as sms.Message.CallbackURL does.
//
// With WithSecret the first secret goes in front, escaped; with WithPathSecret it takes the place of {name} in the path of
// base. The rest of base stays as it is. A parameter that base has under one of its names is not added again.
//
// The error says what is wrong, without the URL: base is not an absolute http or https URL, has a fragment, white space or a
// parameter of WithSecret, or the contract has a placeholder for neither message ID nor reference ID.
func (rcv *Receiver) DeliveryURL(base string) (string, error) {
	if reason := checkBase(base); reason != "" {
		return "", errors.New("webhook: DeliveryURL: the base URL " + reason)
	}
	path, query, hasQuery := strings.Cut(base, "?")
	for _, s := range rcv.pathSecrets {
		path = strings.ReplaceAll(path, "{"+s.name+"}", url.PathEscape(s.first()))
	}
	present := map[string]bool{}
	for segment := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(segment, "=")
		present[decode(name)] = true
	}
	var added []string
	for _, s := range rcv.secrets {
		if present[s.name] {
			return "", errors.New("webhook: DeliveryURL: the base URL has the parameter of WithSecret already")
		}
		added = append(added, url.QueryEscape(s.name)+"="+url.QueryEscape(s.first()))
	}
	identified := false
	delivery := rcv.contract.Table().WebhookDelivery
	for _, concept := range [...]string{"status", "id", "reference", "time", "kind", "from", "to"} {
		names, placeholder := delivery.Params[concept], delivery.Placeholders[concept]
		placed := false
		for _, name := range names {
			placed = placed || present[name]
		}
		if !placed && len(names) > 0 && placeholder != "" {
			if strings.ContainsAny(placeholder, "&#") || strings.ContainsFunc(placeholder, breaksURL) {
				return "", errors.New("webhook: DeliveryURL: a placeholder of the contract cannot stand in a URL")
			}
			added = append(added, url.QueryEscape(names[0])+"="+placeholder)
			placed = true
		}
		identified = identified || placed && (concept == "id" || concept == "reference")
	}
	if !identified {
		return "", errors.New("webhook: DeliveryURL: the contract has a placeholder for neither message ID nor reference ID")
	}
	if !hasQuery {
		return path + "?" + strings.Join(added, "&"), nil
	}
	if query != "" && !strings.HasSuffix(query, "&") {
		query += "&"
	}
	return path + "?" + query + strings.Join(added, "&"), nil
}

// checkBase returns what is wrong with a base URL, or "". What comes after the host may hold placeholders, which package
// net/url does not parse.
func checkBase(base string) string {
	end := len(base)
	if i := strings.Index(base, "://"); i >= 0 {
		if j := strings.IndexAny(base[i+3:], "/?#"); j >= 0 {
			end = i + 3 + j
		}
	}
	u, err := url.Parse(base[:end])
	switch {
	case !utf8.ValidString(base) || strings.ContainsFunc(base, breaksURL):
		return "has white space, control characters or invalid UTF-8"
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Hostname(), ".") == "":
		return "must be absolute, with http or https and a host"
	case strings.Contains(base, "#"):
		return "has a fragment, which no server sees"
	default:
		return ""
	}
}

func breaksURL(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
