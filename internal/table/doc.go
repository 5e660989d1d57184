// Package table defines a contract as data: every wire name of the service by its concept. It parses, merges and checks contracts.
// Package contract is its public face.
//
// Fields, parameters, paths, classes and statuses are maps by concept. The default table (default.json) decides which concepts there are: an
// overlay can change their values and add none.
//
// # Files
//
//	table.go, channel.go       the types of the sections
//	reference.go               how a contract.Contract refers to its table
//	parse.go, read.go          an overlay, merged into the default table
//	claims.go                  default names that collide with an overlay
//	validate.go, header.go     checks of whole sections
//	rule.go, names.go, path.go checks of single values
//	problem.go                 what parsing reports
//	words.go                   which word or code of the service means what
//	id.go, number.go, time.go  values of the service: IDs, numbers, times
//	bound.go                   the times between which a listing asks for rows
//
// Functions whose names end in Fault return what is wrong with a value, or "".
//
// # Tags
//
// The tag "concept" of a struct field names the concept that the field is written and read as. It is one word:
//
//	To string `concept:"to"`
//
// The fields of sms.Transaction have the concepts of sms.list.record, and the messages of package messagingtest those of the fields and
// params of their channel. Fields of a platform's own JSON, which no contract names, have the tag "at" of package shape.
//
// The tag "check" names the rule of a field, or of each of its values if it is a list or a map (rule.go):
//
//	path      the path of an operation, such as /sms/send
//	place     a path in a response, such as data.id, or "" for the whole response
//	answer    a place in which a * means every element of a list
//	name      the name of a parameter
//	optional  a name, or ""
//	scheme    a single word, or ""
//	word      a word or a code of the service, or a prefix with a * at its end
//	header    the name of a header that neither the client nor net/http writes itself
//	media     a media type, such as text/plain
//	zone      a zone of the tz database, or "" for UTC
//	layout    a layout of package time that reads a date
//	status    an HTTP status from 300 to 599
//	scale     a whole number from -18 to 18
//	number    a whole number from 0 on
//
// A rule of several words, such as "GET POST", allows only these. Any other rule panics.
package table
