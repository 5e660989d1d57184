package webhook

// concept is what a parameter stands for.
type concept int

const (
	conceptID concept = iota
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
	conceptJSON // a message or status in the shape of the platform
	numConcepts
)

// conceptKeys returns the keys of the contract by concept.
func conceptKeys() [numConcepts]string {
	return [...]string{
		conceptID: "id", conceptFrom: "from", conceptTo: "to", conceptText: "text", conceptTime: "time",
		conceptReference: "reference", conceptOperator: "operator", conceptKeyword: "keyword", conceptName: "name",
		conceptKind: "kind", conceptMediaURL: "mediaURL", conceptMediaID: "mediaID", conceptMIMEType: "mimeType",
		conceptCaption: "caption", conceptFileName: "fileName", conceptLatitude: "latitude", conceptLongitude: "longitude",
		conceptStatus: "status", conceptJSON: "json",
	}
}

// identifies reports whether a concept tells events apart.
func (c concept) identifies() bool {
	return c == conceptID || c == conceptFrom || c == conceptTo || c == conceptReference || c == conceptStatus
}
