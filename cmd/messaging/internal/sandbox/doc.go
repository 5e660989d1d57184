// Package sandbox is the messaging service on this machine, with a web page: every message as its recipient sees it, answers
// that call a webhook, delivery, a clock and faults. It is package messagingtest with a face, and processes no message itself.
//
// A [Sandbox] follows the ledger of a [messagingtest.Server] and keeps what the page shows: conversations, the callbacks of
// each message, and traffic. Its [Sandbox.Handler] serves the service itself, and under /_sandbox/ the page and a JSON API.
package sandbox
