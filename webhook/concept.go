package webhook

// concept is what a parameter means.
type concept int

// The concepts.
const (
	conceptJSON concept = iota // a message or status in the shape of the platform
	conceptID
	conceptFrom
	conceptTo
	conceptText
	conceptTime
	conceptReference
	conceptOperator
	conceptKeyword
	conceptName
	conceptKind
	conceptMediaURL
	conceptMediaID
	conceptMIMEType
	conceptCaption
	conceptFileName
	conceptLatitude
	conceptLongitude
	conceptStatus
	conceptErrorCode
	conceptErrorText
	conceptCost
	conceptCurrency
	conceptCategory
	conceptBillable
	conceptBareID // a parameter with the name id, which may be the ID of the callback or of the message
	numConcepts
)

// conceptKeys returns the key of each concept in the contract. A bare ID has none.
func conceptKeys() [conceptBareID]string {
	return [...]string{
		conceptJSON:      "json",
		conceptID:        "id",
		conceptFrom:      "from",
		conceptTo:        "to",
		conceptText:      "text",
		conceptTime:      "time",
		conceptReference: "reference",
		conceptOperator:  "operator",
		conceptKeyword:   "keyword",
		conceptName:      "name",
		conceptKind:      "kind",
		conceptMediaURL:  "mediaURL",
		conceptMediaID:   "mediaID",
		conceptMIMEType:  "mimeType",
		conceptCaption:   "caption",
		conceptFileName:  "fileName",
		conceptLatitude:  "latitude",
		conceptLongitude: "longitude",
		conceptStatus:    "status",
		conceptErrorCode: "errorCode",
		conceptErrorText: "errorText",
		conceptCost:      "cost",
		conceptCurrency:  "currency",
		conceptCategory:  "category",
		conceptBillable:  "billable",
	}
}

// identifies reports whether two different values of the concept are two different events.
func (c concept) identifies() bool {
	switch c {
	case conceptID, conceptBareID, conceptFrom, conceptTo, conceptReference, conceptStatus:
		return true
	default:
		return false
	}
}

// binding says what a parameter means: its concept, and how far ahead its name is in the contract's list for that concept.
type binding struct {
	concept    concept
	preference int // counted from 1, the first in the list
}

// newBinding binds a name to a concept. A name id that is not the first may be the ID of the callback, and not of the message.
func newBinding(to concept, name string, preference int) binding {
	isBare := name == "id" || name == "_id"
	if to == conceptID && isBare && preference > 1 {
		to = conceptBareID
	}
	return binding{concept: to, preference: preference}
}

// binds reports whether a parameter with these bindings may mean a concept.
func binds(bindings []binding, c concept) bool {
	for _, b := range bindings {
		if b.concept == c {
			return true
		}
	}
	return false
}
