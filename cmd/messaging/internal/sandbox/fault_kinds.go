package sandbox

// A FaultKind is a way in which a request can fail. Its name is the same on the page, in the API, in traffic and on the terminal.
type FaultKind struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Go       string `json:"go"` // the function of package messagingtest
	InLedger bool   `json:"inLedger"`
	Verdict  string `json:"verdict"`         // of a correct client
	Needs    string `json:"needs,omitempty"` // a parameter: "delay" or "retryAfter", a duration, or "status"
}

// The verdicts of the client.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictUnknown  = "unknown"
)

// faultKinds returns all faults, in the order of the page.
func faultKinds() []FaultKind {
	return []FaultKind{
		{
			Name:     "accept-then-drop",
			What:     "Processes the message, then resets the connection without a response.",
			Go:       "FaultAcceptThenDrop",
			InLedger: true,
			Verdict:  verdictUnknown,
		},
		{
			Name:    "drop-unread",
			What:    "Resets the connection and processes nothing. The client cannot tell it from accept-then-drop.",
			Go:      "FaultDropUnread",
			Verdict: verdictUnknown,
		},
		{
			Name:     "slow",
			What:     "Processes the message at once and responds after the delay.",
			Go:       "FaultSlow",
			InLedger: true,
			Verdict:  "accepted, or unknown if the client did not wait",
			Needs:    "delay",
		},
		{
			Name:    "status-429",
			What:    "Too many requests: refuses to process the request for now. A client retries after the wait.",
			Go:      "FaultStatus(429)",
			Verdict: verdictRefused,
			Needs:   "retryAfter",
		},
		{
			Name:    "status-500",
			What:    "An internal error, which does not say whether the message went out.",
			Go:      "FaultStatus(500)",
			Verdict: verdictUnknown,
		},
		{
			Name:    "status-503",
			What:    "Unavailable, as a proxy says too.",
			Go:      "FaultStatus(503)",
			Verdict: verdictUnknown,
			Needs:   "retryAfter",
		},
		{
			Name:     "status-after",
			What:     "Processes the message, then responds with an error from 500 to 599, which does not say so.",
			Go:       "FaultStatusAfter",
			InLedger: true,
			Verdict:  verdictUnknown,
			Needs:    "status",
		},
		{
			Name: "page",
			What: "Processes nothing and responds with a page of HTML and a status from 500 to 599, as a proxy does for a service that it cannot reach. " +
				"The client cannot tell it from a page that comes after processing.",
			Go:      "FaultPage",
			Verdict: verdictUnknown,
			Needs:   "status",
		},
		{
			Name:     "truncated-response",
			What:     "Processes the message and cuts the response in its middle.",
			Go:       "FaultTruncated",
			InLedger: true,
			Verdict:  verdictUnknown,
		},
		{
			Name:     "not-json",
			What:     "Processes the message and responds 200 with a page of HTML, as an intermediary may.",
			Go:       "FaultNotJSON",
			InLedger: true,
			Verdict:  verdictUnknown,
		},
	}
}
