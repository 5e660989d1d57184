// Package sandbox runs the messaging service on this machine, with a web page: it shows every message as its recipient sees it, sends answers
// to a webhook, and controls delivery, the clock and faults. Package messagingtest processes the messages.
//
// A [Sandbox] follows the ledger of a [messagingtest.Server] and keeps conversations, the callbacks of each message, and traffic for the page.
// [Spaces.Handler] serves the service itself, and below /_sandbox/ the page and a JSON API.
package sandbox
