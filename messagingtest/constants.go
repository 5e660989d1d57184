package messagingtest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// checkConstants checks the constants of every request, and those that go with a field or with an alphabet.
func (f fields) checkConstants(common table.Headers, header http.Header) *problem {
	if p := f.checkHeaders(common, header); p != nil {
		return p
	}
	for _, name := range slices.Sorted(maps.Keys(f.op.contract.Constants)) {
		if !f.isConstant(name, f.op.contract.Constants[name]) {
			return &problem{"constant", name + " is absent, or not that of the contract"}
		}
	}
	for _, concept := range slices.Sorted(maps.Keys(f.op.contract.FieldConstants)) {
		constants := f.op.contract.FieldConstants[concept]
		for _, name := range slices.Sorted(maps.Keys(constants)) {
			if p := f.checkFieldConstant(concept, name, constants[name]); p != nil {
				return p
			}
		}
	}
	return nil
}

// checkHeaders checks the headers that the contract has for every request and for this operation, which replaces or removes some.
func (f fields) checkHeaders(common table.Headers, header http.Header) *problem {
	want := common.With(f.op.contract.Headers)
	for _, headers := range []table.Headers{common, f.op.contract.Headers} {
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			got := strings.Join(header.Values(name), "\n")
			if got != want[strings.ToLower(name)] { // "" if the operation removes it
				return &problem{"constant", "the header " + name + " is not that of the contract"}
			}
		}
	}
	return nil
}

// checkFieldConstant checks a constant that goes with a field, or with texts in one of the two alphabets: if the request has the field, it must
// have the constant, and otherwise it must not.
func (f fields) checkFieldConstant(concept, name string, constant any) *problem {
	if f.hasOtherAlphabet(concept, name) {
		return nil
	}
	_, isPresent := f.values[name]
	isDefault := f.op.contract.ConstantsGiveWay(concept) // of the default contract: an extra field may replace it
	switch {
	case isPresent && isDefault:
		return nil
	case isPresent && !f.isConstant(name, constant):
		return &problem{"kind", name + " is not " + string(encode(constant))}
	case isPresent != f.goesWith(concept):
		return f.notTogether(concept, name)
	default:
		return nil
	}
}

// goesWith reports whether the constants of a concept belong to the request: it has the field, or its text is in the alphabet.
func (f fields) goesWith(concept string) bool {
	switch concept {
	case table.GSM:
		return isGSM(f.text("text"))
	case table.Unicode:
		return !isGSM(f.text("text"))
	default:
		return f.has(concept)
	}
}

// hasOtherAlphabet reports whether the concept is an alphabet, and the text is in the other one, which has a constant of the same name.
func (f fields) hasOtherAlphabet(concept, name string) bool {
	others := map[string]string{table.GSM: table.Unicode, table.Unicode: table.GSM}
	other, isAlphabet := others[concept]
	if !isAlphabet || !f.goesWith(other) {
		return false
	}
	_, hasConstant := f.op.contract.FieldConstants[other][name]
	return hasConstant
}

// notTogether returns the problem of a constant without its concept, or of a concept without its constant.
func (f fields) notTogether(concept, name string) *problem {
	switch concept {
	case table.GSM, table.Unicode:
		return &problem{"constant", "a text in " + concept + " and " + name + " go together"}
	case "callback":
		return &problem{"callback", f.name(concept) + " and " + name + " go together"}
	default:
		return &problem{"constant", f.name(concept) + " and " + name + " go together"}
	}
}

// isConstant reports whether a value is that of the contract. A form holds it as text.
func (f fields) isConstant(name string, want any) bool {
	if f.isForm() {
		want = fmt.Sprint(want)
	}
	return reflect.DeepEqual(f.values[name], want)
}
