// Package shape encodes, decodes and checks the messages of a platform by the tags of their types. A package of messages declares its types.
// It also has the rules about several fields, which no tag can express.
//
// # Files
//
//	tag.go, rules.go    the parts of a tag: path, encoding options, rules
//	shape.go            what a tag is compiled to
//	compile.go          New and AddUnion, which compile
//	write.go            values to JSON
//	read.go, decode.go  JSON to values
//	check.go            the rules of a tag, applied to a value
//
// # The tag
//
// The tag "at" of a field is the path of its value in the platform's JSON, followed by encoding options and rules:
//
//	Body string `at:"text.body,required,max=4096"`
//
// Every exported field must have the tag. New panics if an option is unknown or is not for the type of the field.
//
// Package webhook reads what the platform sends by the same tag, but only with paths of names, and without options.
//
// # Paths
//
//	to                              {"to": V}
//	body.text                       {"body": {"text": V}}
//	parameters[]                    {"parameters": [V]}
//	parameters[type=ttl].ttl        {"parameters": [{"type": "ttl", "ttl": V}, …]}, one element for each type
//	buttons[each type=reply].reply  {"buttons": [{"type": "reply", "reply": V1}, {"type": "reply", "reply": V2}]}, for a list of V1 and V2
//	cards[each index=#]             {"cards": [{"index": 0, V1's members}, {"index": 1, V2's members}]}, for a list of structs
//	type&action                     {"type": …, "action": …}: the members of a value of a sealed interface, next to those of other fields
//	(nothing)                       V is the whole JSON
//	-                               the field is not in the JSON; it is only checked
//	url|link                        {"url": V} or {"link": V}; only in package webhook
//
// A member with a zero value is not written, and neither is an object or element that has only such members. An exclamation mark after a name
// or a bracket means that the member or element is always written, and required when it is read:
//
//	index!                          {"index": 0}
//	action!.parameters              {"action": {}}
//	buttons[each type=reply]!       {"buttons": []}
//
// # Types
//
// A field is a string, a bool, an int, an int64, a float64, a time in milliseconds since 1970, an any, a json.RawMessage, a struct with tags,
// a sealed interface, or a list of these or a pointer to one. Reading takes numbers in quotes as well.
//
// # Encoding options
//
//	location,text      numbers in the value are written as text: {"location": {"latitude": "1.5"}}
//	version,default=3  an empty text is written as 3, and 3 is read as an empty text: {"version": "3"}
//
// # Rules
//
// All texts must be valid UTF-8. The other rules are skipped for an empty text, unless it is required:
//
//	required   a text that is not white space only, or a sealed interface that is not nil
//	present    a time that is not zero
//	notblank   a text that is not white space only
//	max=20     at most 20 characters
//	oneof=a|b  one of these words
//	name       lower-case letters, digits and underscores
//	alnum      letters and digits
//	trimmed    no white space around it
//	unique     no other element of the list has the same text in a field of this name
//	url        an http or https URL
//	currency   an ISO 4217 code
//	date       a date as YYYY-MM-DD
//	index      0 to 9
//	degrees=90 -90 to 90
//	object     a value that encodes as a JSON object that is not empty, or the text of one
//
// A value that exceeds a documented limit (a length, a range, a set of words) is a problem that WithLenientLimits lifts. Missing and
// contradictory values are always problems.
//
// # Sealed interfaces
//
// AddUnion adds the types of a sealed interface. The Place of each type has the words by which an object is recognized as this type, and the
// path of its value in the object. The option text may follow the path.
//
//	Place{"type=image", "image!"}                            {"type": "image", "image": V}
//	Place{"type=text", ""}                                   {"type": "text", V's members}
//	Place{"type=flow action.name=flow", "action.parameters"} {"type": "flow", "action": {"name": "flow", "parameters": V}}
//	Place{}                                                  V, the raw type: it holds what fits no other
package shape
