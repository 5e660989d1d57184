package learn

import (
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// callbackParameter is a parameter of the callback URL in the request.
type callbackParameter struct {
	name string
	raw  string // the value as the URL has it
}

// value returns the value without escapes. A placeholder such as %s is no escape, and stays unchanged.
func (p callbackParameter) value() string { return unescape(p.raw) }

// callbackParameters returns the parameters of the callback URL in the request.
func (l *learner) callbackParameters() []callbackParameter {
	_, query, _ := strings.Cut(l.examples.request.values["callback"], "?")
	var parameters []callbackParameter
	for segment := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(segment, "=")
		parameters = append(parameters, callbackParameter{name: unescape(name), raw: raw})
	}
	return parameters
}

// learnPlaceholders learns what the service replaces in the callback URL: a parameter that holds a placeholder there, and a known value in the
// reports. Without the ID and the reference of the message, the placeholders could not name it, and the defaults stay in force.
func (l *learner) learnPlaceholders() {
	isBody := l.overlay.Delivery.Encoding != "" // which does not show what the URL became
	if l.examples.request == nil || isBody {
		return
	}
	found := l.findPlaceholders()
	namesMessage := found["id"] != "" || found["reference"] != ""
	if namesMessage && !l.areDefaults(found) {
		l.setPlaceholders(found)
	}
}

// findPlaceholders returns the placeholders by concept, or nil if one of them is not certain.
func (l *learner) findPlaceholders() map[string]string {
	found := map[string]string{}
	for concept, names := range l.overlay.Delivery.Params {
		placeholder, isCertain := l.placeholderOf(names)
		if !isCertain {
			return nil
		}
		if placeholder != "" {
			found[concept] = placeholder
		}
	}
	return found
}

// setPlaceholders replaces the default placeholders by those that were found. The others are empty, and a comment names them.
func (l *learner) setPlaceholders(found map[string]string) {
	var unseen []string
	for _, concept := range slices.Sorted(maps.Keys(l.defaults.WebhookDelivery.Placeholders)) {
		if found[concept] == "" {
			found[concept] = ""
			unseen = append(unseen, concept)
		}
	}
	l.overlay.Delivery.Placeholders = found
	if len(unseen) > 0 {
		l.overlay.note("not in the callback URL of the request: "+strings.Join(unseen, ", ")+
			": write the placeholders that the service has for them", sectionDelivery, "placeholders")
	}
}

// placeholderOf returns the placeholder in the parameter with the first of some names, by which DeliveryURL calls it, or "" if it has none. It
// is not certain if the URL has two.
func (l *learner) placeholderOf(names []string) (placeholder string, isCertain bool) {
	for _, parameter := range l.callbackParameters() {
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
func (l *learner) areDefaults(placeholders map[string]string) bool {
	for concept, placeholder := range placeholders {
		if l.defaults.WebhookDelivery.Placeholders[concept] != placeholder {
			return false
		}
	}
	return true
}

// notePlaceholders adds a comment if the callback URL of the request has neither placeholders that were learned nor default ones. Those stay in
// force: without them the reports of a service that does replace them would name no message, and a receiver skips those that were not replaced.
func (l *learner) notePlaceholders() {
	callback := l.examples.request.values["callback"]
	isDefault := func(parameter callbackParameter) bool {
		defaults := slices.Collect(maps.Values(l.defaults.WebhookDelivery.Placeholders))
		return slices.Contains(defaults, parameter.value())
	}
	isLearned := l.overlay.Delivery.Placeholders != nil
	if callback == "" || isLearned || slices.ContainsFunc(l.callbackParameters(), isDefault) {
		return
	}
	l.overlay.note("the callback URL in the request has none of the placeholders that webhook.Receiver.DeliveryURL adds, such as %s and %i: "+
		`write those of the service, or write "" for each if it replaces nothing: from, id, kind, reference, status, time, to`,
		sectionDelivery, "placeholders")
}

// replayPlaceholders compares the URL that DeliveryURL returns with the callback URL of the request.
func (l *learner) replayPlaceholders(names contract.Contract) error {
	example := l.examples.request
	hooks, err := receiver(names)
	if err != nil {
		return example.errorf("%w", err)
	}
	base, _, _ := strings.Cut(example.values["callback"], "?")
	got, err := hooks.DeliveryURL(base)
	if err != nil {
		return example.errorf("%w", err)
	}
	_, query, _ := strings.Cut(got, "?")
	for segment := range strings.SplitSeq(query, "&") {
		name, raw, _ := strings.Cut(segment, "=")
		want := callbackParameter{name: unescape(name), raw: raw}
		if !slices.Contains(l.callbackParameters(), want) {
			return example.errorf("the callback URL gets %s, which the example does not have", segment)
		}
	}
	return nil
}
