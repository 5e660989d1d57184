// Package shape encodes, decodes and checks the messages of a platform by the tags of their types. A package of messages declares its
// types, and has the rules about several fields, which no tag can express.
//
// # The tag
//
// The tag "at" of a field is the path of its value in the platform's JSON, followed by encoding options and rules:
//
//	Body string `at:"text.body,required,max=4096"`
//
// Every exported field must have the tag. An unknown option panics when the types are compiled.
//
// Package webhook reads what the platform sends by the same tag, but only with paths of names, and without options.
//
// # Paths
//
//	to                              the member to
//	body.text                       the member text of the object body
//	type&action                     these members of the object itself belong to the value, which is of a sealed interface
//	parameters[type=ttl].ttl        the member ttl of the one element of the list parameters that has the type ttl
//	parameters[]                    the only element of the list parameters
//	buttons[each type=reply].reply  the value is a list, and each element is in an object that has the type reply
//	cards[each index=#]             each element is itself an object, which also has its index
//	url|link                        the first of the members that has a value; only in package webhook
//	(nothing)                       the whole JSON
//	-                               no path; the field is only checked
//
// A zero value is not written, and neither is an object or element without values. An exclamation mark after a name or a bracket means that
// it is always written, and required when it is read.
//
// # Encoding options
//
//	text       numbers are written as text; reading takes both, everywhere
//	milli      a time is in milliseconds since 1970, and not in seconds
//	default=3  an empty text is written as 3, which is read as an empty one
//
// # Rules
//
// All texts must be valid UTF-8. The other rules are skipped for an empty text, unless it is required:
//
//	required   a text that is not white space only, or a sealed interface that is not nil
//	present    a struct that is not zero
//	notblank   a text that is not white space only
//	max=20     at most 20 characters, or the number 20
//	oneof=a|b  one of these words
//	name       lower-case letters, digits and underscores
//	alnum      letters and digits
//	trimmed    no white space around it
//	unique     no other element of the list has the same text in this field
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
// AddUnion adds the types of a sealed interface. The Place of each type has the words by which an object is recognized as this type, such as
// "type=flow action.name=flow", and the path of its value in the object. The type without words is the raw one: it holds what fits no other.
package shape
