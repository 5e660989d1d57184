// Package shape encodes, decodes and checks the messages of a platform by the tags of their types. A package of messages declares its
// types, and holds what no tag can say: the rules about several fields together.
//
// # The tag
//
// The tag "at" of a field says where its value stands in the platform's JSON, and after commas how it is written and what holds for it:
//
//	Body string `at:"text.body,required,max=4096"`
//
// Every exported field has the tag, and an option that is not on this page panics when the types are compiled.
//
// Package webhook reads what the platform sends by the same tag, with less: paths of names alone, and no options.
//
// # Where a value stands
//
//	to                              the member to
//	body.text                       the member text of the object body
//	type&action                     these members of the object itself belong to the value, which is of a sealed interface
//	parameters[type=ttl].ttl        the member ttl of the one element of the list parameters that has the type ttl
//	parameters[]                    the only element of the list parameters
//	buttons[each type=reply].reply  the value is a list, and each element stands in an object that has the type reply
//	cards[each index=#]             each element is itself an object, which also has its index
//	url|link                        the first of the members that has a value; only in package webhook
//	(nothing)                       the whole JSON
//	-                               nowhere; the field is only checked
//
// A value that is zero is not written, nor is an object or element that would hold no value. An exclamation mark behind a name or
// a bracket says that it is written all the same, and required when it is read.
//
// # How a value is written
//
//	text       numbers are written as text; reading takes both, everywhere
//	milli      a time is in milliseconds since 1970, and not in seconds
//	default=3  an empty text is written as 3, which is read as an empty one
//	optional   what is always written may be absent when it is read
//	or=name    a text is read like an object that has it as the member name
//
// A duration is a number of minutes.
//
// # What holds for a value
//
// All texts must be valid UTF-8. The other rules do not concern a text that is empty, unless it is required:
//
//	required   a text that is not white space only, or a sealed interface that is not nil
//	present    a struct that is not zero
//	notblank   a text that is not white space only
//	max=20     at most 20 characters, or the number 20
//	oneof=a|b  one of these words
//	name       lower-case letters, digits and underscores
//	alnum      letters and digits
//	reference  letters, digits, underscores, dots and hyphens
//	trimmed    no white space around it
//	unique     no other element of the list has the same text in this field
//	url        an http or https URL
//	currency   an ISO 4217 code
//	date       a date as YYYY-MM-DD
//	minutes    whole minutes, at most 30 days
//	index      0 to 9
//	degrees=90 -90 to 90
//	object     a value that encodes as a JSON object that is not empty, or the text of one
//
// What exceeds a documented limit (a length, a range, a set of words) is a problem that a client may be told to let pass. What is
// missing or contradicts itself is always one.
//
// # Sealed interfaces
//
// AddUnion adds the types of a sealed interface. Each says in a Place by which words an object is recognised as this type, such as
// "type=flow action.name=flow", and at which path of the object its value stands. The type without words is the raw one: it holds
// what fits no other.
package shape
