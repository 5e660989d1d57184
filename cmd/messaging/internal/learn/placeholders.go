package learn

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// callbackParameter is a parameter of a callback URL.
type callbackParameter struct {
	name string
	raw  string // the value as the URL has it
}

func newCallbackParameter(segment string) callbackParameter {
	name, raw, _ := strings.Cut(segment, "=")
	return callbackParameter{name: unescape(name), raw: raw}
}

// value returns the value without escapes. A placeholder such as %s is no escape, and stays unchanged.
func (p callbackParameter) value() string { return unescape(p.raw) }

// placeholders learns what the service replaces in a callback URL, from the callback URL of the request.
type placeholders struct {
	request *Example
	overlay *overlay
}

func newPlaceholders(request *Example, o *overlay) placeholders {
	return placeholders{request: request, overlay: o}
}

// url returns the callback URL of the request, or "".
func (p placeholders) url() string { return p.request.values["callback"] }

// parameters returns the parameters of the callback URL.
func (p placeholders) parameters() []callbackParameter {
	_, query, _ := strings.Cut(p.url(), "?")
	var parameters []callbackParameter
	for segment := range strings.SplitSeq(query, "&") {
		parameters = append(parameters, newCallbackParameter(segment))
	}
	return parameters
}

// learn learns the placeholders of the parameters that have a known value in the reports. Without the ID and the reference of the message, the
// placeholders could not name it, and the defaults stay in force.
func (p placeholders) learn() {
	isBody := p.overlay.Delivery.Encoding != "" // which does not show what the URL became
	if isBody {
		return
	}
	found := p.find()
	namesMessage := found["id"] != "" || found["reference"] != ""
	if namesMessage && !p.areDefaults(found) {
		p.set(found)
	}
}

// find returns the placeholders by concept, or nil if one of them is not certain.
func (p placeholders) find() map[string]string {
	found := map[string]string{}
	for concept, names := range p.overlay.Delivery.Params {
		placeholder, isCertain := p.placeholderOf(names)
		if !isCertain {
			return nil
		}
		if placeholder != "" {
			found[concept] = placeholder
		}
	}
	return found
}

// placeholderOf returns the placeholder in the parameter with the first of some names, by which DeliveryURL calls it, or "" if it has none. It
// is not certain if the URL has two.
func (p placeholders) placeholderOf(names []string) (placeholder string, isCertain bool) {
	for _, parameter := range p.parameters() {
		isNamed := len(names) > 0 && parameter.name == names[0]
		if !isNamed || !isTemplate(parameter.value()) {
			continue
		}
		if placeholder != "" {
			return "", false
		}
		placeholder = parameter.raw
	}
	return placeholder, true
}

// isTemplate reports whether a value is a name in signs, such as %s, {id} or <id>. Words such as null and numbers are not. DeliveryURL cannot
// write a placeholder with a # or a space.
func isTemplate(value string) bool {
	hasSign := value != "" && strings.Contains("%{$[@_<", value[:1])
	hasName := strings.ContainsFunc(value, isLetter) && !strings.ContainsAny(value, "# ")
	return hasSign && hasName && table.IsPlaceholder(value)
}

// areDefaults reports whether the default contract has all of some placeholders.
func (p placeholders) areDefaults(found map[string]string) bool {
	for concept, placeholder := range found {
		if p.overlay.defaults.WebhookDelivery.Placeholders[concept] != placeholder {
			return false
		}
	}
	return true
}

// set replaces the default placeholders by the learned ones. The others are empty, and a comment names them.
func (p placeholders) set(found map[string]string) {
	var unseen []string
	for _, concept := range slices.Sorted(maps.Keys(p.overlay.defaults.WebhookDelivery.Placeholders)) {
		if found[concept] == "" {
			found[concept] = ""
			unseen = append(unseen, concept)
		}
	}
	p.overlay.Delivery.Placeholders = found
	if len(unseen) > 0 {
		p.overlay.note("not in the callback URL of the request: "+strings.Join(unseen, ", ")+
			": write the placeholders that the service has for them", sectionDelivery, "placeholders")
	}
}

// note adds a comment if the callback URL of the request has neither placeholders that were learned nor default ones. Those stay in
// force: without them the reports of a service that does replace them would name no message, and a receiver skips placeholders that were not replaced.
func (p placeholders) note() {
	defaults := slices.Collect(maps.Values(p.overlay.defaults.WebhookDelivery.Placeholders))
	isDefault := func(parameter callbackParameter) bool { return slices.Contains(defaults, parameter.value()) }
	isLearned := p.overlay.Delivery.Placeholders != nil
	if p.url() == "" || isLearned || slices.ContainsFunc(p.parameters(), isDefault) {
		return
	}
	p.overlay.note("the callback URL in the request has none of the placeholders that webhook.Receiver.DeliveryURL adds, such as %s and %i: "+
		`write those of the service, or write "" for each if it replaces nothing: from, id, kind, reference, status, time, to`,
		sectionDelivery, "placeholders")
}

// replay compares the URL that DeliveryURL returns with the callback URL of the request.
func (p placeholders) replay(names contract.Contract) error {
	hooks, err := receiver(names)
	if err != nil {
		return p.request.errorf("%w", err)
	}
	base, _, _ := strings.Cut(p.url(), "?")
	got, err := hooks.DeliveryURL(base)
	if err != nil {
		return p.request.errorf("%w", err)
	}
	_, query, _ := strings.Cut(got, "?")
	for segment := range strings.SplitSeq(query, "&") {
		if !slices.Contains(p.parameters(), newCallbackParameter(segment)) {
			return p.request.errorf("the callback URL gets %s, which the example does not have", segment)
		}
	}
	return nil
}
