package webhook

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// DeliveryURL returns the callback URL to name in a send, so that the service reports delivery to the handler of Delivery. The
// base is where that handler is mounted, as the service reaches it. One URL serves all messages.
//
//	callback, err := hooks.DeliveryURL("https://shop.example.com/hooks/dlr")
//
// The URL holds placeholders of the contract, such as %s, which the service replaces and package net/url cannot parse: pass it on byte for
// byte. Repeated slashes in the path become one, because an http.ServeMux redirects such a path, and a service may not follow. The first
// secret of WithSecret is added in front, and the one of WithPathSecret takes the place of {name} in the path. A parameter
// that base has already is not added again.
//
// It returns an error, without the URL, if base is not an absolute http or https URL or has a fragment, white space or a parameter
// of WithSecret, or if the contract has placeholders, but for neither message ID nor reference ID.
func (rcv *Receiver) DeliveryURL(base string) (string, error) {
	if reason := checkBase(base); reason != "" {
		return "", errors.New("webhook: DeliveryURL: the base URL: " + reason)
	}
	address, query, hasQuery := strings.Cut(base, "?")
	path := mergeSlashes(address)
	for _, s := range rcv.pathSecrets {
		path = strings.ReplaceAll(path, "{"+s.name+"}", url.PathEscape(s.first()))
	}
	present := map[string]bool{}
	for segment := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(segment, "=")
		present[decode(name)] = true
	}
	secrets, err := rcv.secretParams(present)
	if err != nil {
		return "", err
	}
	placeholders, err := rcv.placeholderParams(present)
	if err != nil {
		return "", err
	}
	added := strings.Join(append(secrets, placeholders...), "&")
	needsSeparator := query != "" && !strings.HasSuffix(query, "&")
	switch {
	case added == "" && !hasQuery:
		return path, nil
	case added != "" && needsSeparator:
		return path + "?" + query + "&" + added, nil
	default:
		return path + "?" + query + added, nil
	}
}

// mergeSlashes returns a URL without a query, with one slash for each run of slashes in its path. Package net/url cannot parse placeholders.
func mergeSlashes(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	for strings.Contains(rest, "//") {
		rest = strings.ReplaceAll(rest, "//", "/")
	}
	return scheme + "://" + rest
}

// secretParams returns the parameters of a callback URL that hold secrets.
func (rcv *Receiver) secretParams(present map[string]bool) (params []string, err error) {
	for _, s := range rcv.secrets {
		if present[s.name] {
			return nil, errors.New("webhook: DeliveryURL: the base URL has the parameter of WithSecret already")
		}
		params = append(params, url.QueryEscape(s.name)+"="+url.QueryEscape(s.first()))
	}
	return params, nil
}

// placeholderParams returns the parameters of a callback URL that hold placeholders, except for those that are present. Without any
// placeholder in the contract the service itself adds what names the message.
func (rcv *Receiver) placeholderParams(present map[string]bool) (params []string, err error) {
	delivery := table.Of(rcv.contract).WebhookDelivery
	hasPlaceholder := false
	isInURL := map[string]bool{} // by concept
	for _, concept := range [...]string{"status", "id", "reference", "time", "kind", "from", "to"} {
		names := delivery.Params[concept]
		placeholder := delivery.Placeholders[concept]
		hasPlaceholder = hasPlaceholder || placeholder != ""
		isPresent := slices.ContainsFunc(names, func(name string) bool { return present[name] })
		switch {
		case isPresent:
			isInURL[concept] = true
		case placeholder == "" || len(names) == 0: // nothing to add
		case strings.ContainsAny(placeholder, "&#") || strings.ContainsFunc(placeholder, breaksURL):
			return nil, errors.New("webhook: DeliveryURL: a placeholder of the contract cannot be part of a URL")
		default:
			params = append(params, url.QueryEscape(names[0])+"="+placeholder)
			isInURL[concept] = true
		}
	}
	namesMessage := isInURL["id"] || isInURL["reference"]
	if hasPlaceholder && !namesMessage {
		return nil, errors.New("webhook: DeliveryURL: the contract has placeholders, but for neither message ID nor reference ID")
	}
	return params, nil
}

// checkBase returns what is wrong with a base URL, or "". It is a callback URL without placeholders yet.
func checkBase(base string) string {
	switch reason := wire.CheckCallbackURL(base); {
	case base == "":
		return "required, but empty"
	case reason != "":
		return reason
	case strings.Contains(base, "#"):
		return "has a fragment, which no server sees"
	default:
		return ""
	}
}

func breaksURL(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
