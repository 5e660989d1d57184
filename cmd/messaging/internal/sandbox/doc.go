// Package sandbox runs the messaging service on this machine, with a web page: it shows every message as its recipient sees it, sends answers
// to a webhook, and controls delivery, the clock and faults. Package messagingtest processes the messages.
//
// A [Sandbox] follows the ledger of a [messagingtest.Server] and keeps conversations, the callbacks of each message, and traffic for the page.
// [Spaces.Handler] serves the service itself, and below /_sandbox/ the page and a JSON API.
//
// # Words
//
// A program sends a message, and a recipient sends an answer, which the paths of the API call a reply. Both are entries of the book, by age and
// by conversation. A bubble is an entry as the phone of the recipient shows it. An exchange is one request with its response: of a program to the
// service, or of the service to a webhook, which is also a call of that message or answer. A rule makes requests meet a fault. A space is
// a sandbox of its own for one test.
//
// # Files
//
// Start with sandbox.go, which follows the ledger, and state.go, the part that its lock guards. Then:
//
//   - command.go, credentials.go, console.go: the command messaging sandbox, and what it prints
//   - spaces.go, access.go, serve.go: a request on its way to the service, the page or the API, and its exchange
//   - exchange.go, traffic.go, match.go, mask.go, mask_members.go, curl.go: exchanges, without secrets
//   - book.go, entry.go, message.go, channel.go, bounds.go: messages and answers, and how many are kept
//   - answer.go, answer_kind.go, answer_tap.go: answers. Each kind is a row of a table, and a case of Answer.platformContent
//   - webhook.go, calls.go: calls of webhooks, with answers and delivery reports
//   - delivery.go, settings.go, seed.go: outcomes, the clock, settings, and messages of earlier days
//   - fault.go, fault_kinds.go, fault_rules.go, fault_verdict.go, fault_api.go, fault_flag.go: faults. Each kind is a row of a table
//   - api.go, request.go, messages.go, hub.go: the operations of the API, and how programs and pages wait for changes. openapi.json describes them
//   - page.go and page_*.go, web: the pages
//   - bubble.go, platform.go, text.go: what they draw
//   - page_connect.go, sample.go: code and samples for a first message
package sandbox
