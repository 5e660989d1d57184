package learn

import (
	"net/http"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
)

// sentinels are the errors of the classes of a refusal.
func sentinels() map[string]error {
	return map[string]error{
		"unauthorized":        messaging.ErrUnauthorized,
		"forbidden":           messaging.ErrForbidden,
		"rateLimited":         messaging.ErrRateLimited,
		"insufficientBalance": messaging.ErrInsufficientBalance,
		"duplicate":           messaging.ErrDuplicate,
		"windowClosed":        messaging.ErrWindowClosed,
		"optedOut":            messaging.ErrOptedOut,
		"unreachable":         messaging.ErrUnreachable,
		"notFound":            messaging.ErrNotFound,
		"unavailable":         messaging.ErrUnavailable,
		"invalid":             messaging.ErrInvalid,
	}
}

// windowClosed is the class of messages that the platform of chat app 2 refuses. Its default code is the platform's, and so the same at every
// provider.
const windowClosed = "windowClosed"

// checkClass returns an error for the class forbidden, which has no codes, if the HTTP status is another.
func (r *refusals) checkClass(example *Example) error {
	class := example.values["class"]
	if r.hasCodes(class) || example.status == http.StatusForbidden {
		return nil
	}
	return example.errorf("class %s is known by HTTP %d alone, and not by a code: remove this example",
		class, http.StatusForbidden)
}

// hasCodes reports whether a class has codes. The class forbidden has none.
func (r *refusals) hasCodes(class string) bool {
	return r.overlay.defaults.Errors.Classes[class] != nil
}

// allClasses returns the codes of all classes. A class without a code here is empty, so that no code of the default contract is taken for one of
// this service. The platform's code stays in force, unless the examples give it another class.
func (r *refusals) allClasses() lists {
	all := lists{}
	for class, defaults := range r.overlay.defaults.Errors.Classes {
		codes := r.codesOf(class)
		isPlatform := class == windowClosed && !slices.ContainsFunc(defaults, r.classes.has)
		hasNoDefault := len(defaults) == 0 // to remove
		if len(codes) == 0 && (isPlatform || hasNoDefault) {
			continue
		}
		all[class] = codes
	}
	return all
}

// codesOf returns the codes of a class, sorted, without codes that another class has, too: the HTTP status then tells the classes apart.
func (r *refusals) codesOf(class string) []string {
	found := []string{}
	for _, code := range r.classes[class] {
		if !r.hasOtherClass(class, code) {
			found = append(found, code)
		}
	}
	slices.Sort(found)
	return found
}

// hasOtherClass reports whether another class has the code too.
func (r *refusals) hasOtherClass(class, code string) bool {
	for other, codes := range r.classes {
		if other != class && slices.Contains(codes, code) {
			return true
		}
	}
	return false
}
