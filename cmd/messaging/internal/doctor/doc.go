// Package doctor finds what of a contract a real account contradicts. It asks the service through the public client, records
// each exchange, and looks at the recorded bodies in a way of its own, so that it also sees what the contract does not name.
//
// Each step adds [Check]s to a [Report], and may propose lines of an overlay. A proposal is adopted at once: the steps that
// follow ask with it. Nothing in a report is a credential, a number, a text or another value of a message.
package doctor
