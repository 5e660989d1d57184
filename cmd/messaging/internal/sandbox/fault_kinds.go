package sandbox

import (
	"cmp"
	"net/http"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A FaultKind is a way in which a request can fail. Its name is the same on the page, in the API, in traffic and on the terminal.
type FaultKind struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Go       string `json:"go"` // the function of package messagingtest
	InLedger bool   `json:"inLedger"`
	Verdict  string `json:"verdict"`         // of a correct client
	Needs    string `json:"needs,omitempty"` // a parameter of the rule

	make func(rule *faultRule) messagingtest.Fault
}

// The parameters that a fault may need.
const (
	needsDelay      = "delay"      // a duration
	needsRetryAfter = "retryAfter" // a duration
	needsStatus     = "status"
	needsRefusal    = "refusal" // a status and an error code
)

// The verdicts of the client.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictUnknown  = "unknown"
)

// faultNames returns the names of all faults.
func faultNames() []string {
	var names []string
	for _, kind := range faultKinds() {
		names = append(names, kind.Name)
	}
	return names
}

// faultKinds returns all faults, in the order of the page.
func faultKinds() []FaultKind {
	return []FaultKind{
		{
			Name:     "accept-then-drop",
			What:     "Processes the message, then resets the connection without a response.",
			Go:       "FaultAcceptThenDrop",
			InLedger: true,
			Verdict:  verdictUnknown,
			make: func(*faultRule) messagingtest.Fault {
				return messagingtest.FaultAcceptThenDrop()
			},
		},
		{
			Name:    "drop-unread",
			What:    "Resets the connection and processes nothing. The client cannot tell it from accept-then-drop.",
			Go:      "FaultDropUnread",
			Verdict: verdictUnknown,
			make: func(*faultRule) messagingtest.Fault {
				return messagingtest.FaultDropUnread()
			},
		},
		{
			Name:     "slow",
			What:     "Processes the message at once and responds after the delay.",
			Go:       "FaultSlow",
			InLedger: true,
			Verdict:  "accepted, or unknown if the client did not wait",
			Needs:    needsDelay,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultSlow(rule.delay)
			},
		},
		{
			Name: "refuse",
			What: "Refuses the message for good, with a status from 400 to 498. A code, such as 131026 for a recipient who cannot be reached, goes with 400. " +
				"Without one, the service gives its own code for the status.",
			Go:      "FaultCode",
			Verdict: verdictRefused,
			Needs:   needsRefusal,
			make: func(rule *faultRule) messagingtest.Fault {
				if rule.Code != "" {
					return messagingtest.FaultCode(rule.Code)
				}
				return messagingtest.FaultStatus(cmp.Or(rule.Status, http.StatusBadRequest), 0)
			},
		},
		{
			Name:    "status-429",
			What:    "Too many requests: refuses to process the request for now. A client retries after the wait.",
			Go:      "FaultStatus(429)",
			Verdict: verdictRefused,
			Needs:   needsRetryAfter,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatus(http.StatusTooManyRequests, rule.delay)
			},
		},
		{
			Name:    "status-500",
			What:    "An internal error, which does not say whether the message went out.",
			Go:      "FaultStatus(500)",
			Verdict: verdictUnknown,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatus(http.StatusInternalServerError, rule.delay)
			},
		},
		{
			Name:    "status-503",
			What:    "Unavailable, as a proxy says too.",
			Go:      "FaultStatus(503)",
			Verdict: verdictUnknown,
			Needs:   needsRetryAfter,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatus(http.StatusServiceUnavailable, rule.delay)
			},
		},
		{
			Name:     "status-after",
			What:     "Processes the message, then responds with an error from 500 to 599, which does not say so.",
			Go:       "FaultStatusAfter",
			InLedger: true,
			Verdict:  verdictUnknown,
			Needs:    needsStatus,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatusAfter(cmp.Or(rule.Status, http.StatusInternalServerError), "")
			},
		},
		{
			Name: "page",
			What: "Processes nothing and responds with a page of HTML and a status from 500 to 599, as a proxy does for a service that it cannot reach. " +
				"The client cannot tell it from a page that comes after processing.",
			Go:      "FaultPage",
			Verdict: verdictUnknown,
			Needs:   needsStatus,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultPage(cmp.Or(rule.Status, http.StatusBadGateway))
			},
		},
		{
			Name:     "truncated-response",
			What:     "Processes the message and cuts the response in its middle.",
			Go:       "FaultTruncated",
			InLedger: true,
			Verdict:  verdictUnknown,
			make: func(*faultRule) messagingtest.Fault {
				return messagingtest.FaultTruncated()
			},
		},
		{
			Name:     "not-json",
			What:     "Processes the message and responds 200 with a page of HTML, as an intermediary may.",
			Go:       "FaultNotJSON",
			InLedger: true,
			Verdict:  verdictUnknown,
			make: func(*faultRule) messagingtest.Fault {
				return messagingtest.FaultNotJSON()
			},
		},
	}
}
