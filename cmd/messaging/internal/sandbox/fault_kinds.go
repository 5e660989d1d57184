package sandbox

import (
	"fmt"
	"net/http"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// A FaultKind is a way in which a request can fail. Its name is the same on the page, in the API, in traffic and on the terminal: that of
// its function in package messagingtest.
type FaultKind struct {
	Name     string `json:"name"`
	What     string `json:"what"`
	Go       string `json:"go"` // the function of package messagingtest
	InLedger bool   `json:"inLedger"`
	Verdict  string `json:"verdict"` // of a correct client

	// Parameters are the fields of a rule that only some faults have.
	Parameters []string `json:"parameters,omitempty"`

	// MinStatus is the smallest value of the parameter status, and DefaultStatus is its default.
	MinStatus     int `json:"-"`
	DefaultStatus int `json:"-"`

	make func(rule *faultRule) messagingtest.Fault
}

// rangeOf returns the bounds of a parameter and its default in parentheses, or "".
func (kind FaultKind) rangeOf(parameter string) string {
	switch parameter {
	case "status":
		return fmt.Sprintf(" (%d to %d, by default %d)", kind.MinStatus, maxStatus, kind.DefaultStatus)
	case "delay", "retryAfter":
		return " (up to 1h)"
	default:
		return ""
	}
}

// unclearErrors are the HTTP statuses of errors that do not refuse the message.
const unclearErrors = "204, 206, 3xx, 408, 499 and 5xx"

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
			Name:       "slow",
			What:       "Processes the message at once and responds after the delay.",
			Go:         "FaultSlow",
			InLedger:   true,
			Verdict:    "accepted, or unknown if the client did not wait",
			Parameters: []string{"delay"},
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultSlow(rule.delay)
			},
		},
		{
			Name: "status",
			What: "Processes nothing and responds with an error: 429 for a rate limit, 401 for a wrong token, 503 for a service that is not available, " +
				"200 for one that refuses in the body. The service gives its own code for the status.",
			Go:            "FaultStatus",
			Verdict:       "refused; unknown for " + unclearErrors,
			Parameters:    []string{"status", "retryAfter"},
			MinStatus:     minStatus,
			DefaultStatus: http.StatusTooManyRequests,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatus(rule.Status, rule.retryAfter)
			},
		},
		{
			Name: "code",
			What: "Processes nothing and responds with an error code, such as 131026 for a recipient who cannot be reached. The status of most codes " +
				"is 400; chat app 2's platform sends 403 with 368, and 500 with 131016.",
			Go:            "FaultCode",
			Verdict:       "refused; unknown for 408, 499 and 5xx",
			Parameters:    []string{"code", "status"},
			MinStatus:     http.StatusBadRequest,
			DefaultStatus: http.StatusBadRequest,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultCode(rule.Code).WithStatus(rule.Status)
			},
		},
		{
			Name:          "status-after",
			What:          "Processes the message, then responds with an error, which does not say so.",
			Go:            "FaultStatusAfter",
			InLedger:      true,
			Verdict:       "unknown for " + unclearErrors + "; otherwise refused",
			Parameters:    []string{"status"},
			MinStatus:     minStatus,
			DefaultStatus: http.StatusInternalServerError,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultStatusAfter(rule.Status, "")
			},
		},
		{
			Name: "page",
			What: "Processes nothing and responds with a page of HTML, as a proxy does for a service that it cannot reach. " +
				"The client cannot tell it from a page that comes after processing.",
			Go:            "FaultPage",
			Verdict:       "unknown; refused for 407, 411, 413, 414, 417, 421 and 431",
			Parameters:    []string{"status"},
			MinStatus:     minStatus,
			DefaultStatus: http.StatusBadGateway,
			make: func(rule *faultRule) messagingtest.Fault {
				return messagingtest.FaultPage(rule.Status)
			},
		},
		{
			Name:     "truncated",
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
