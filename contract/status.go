package contract

// Status is the state of a message, in a delivery report and on a row of the listing:
//
//	StatusUnknown    "", the zero value   there is no status, or one that the contract does not list
//	StatusQueued     "queued"             the message waits in the service
//	StatusSent       "sent"               the message left for the network
//	StatusDelivered  "delivered"          the message reached the recipient's device
//	StatusRead       "read"               the recipient saw the message
//	StatusPlayed     "played"             the recipient played the voice message
//	StatusFailed     "failed"             the message could not be delivered
//	StatusExpired    "expired"            the message was not delivered within its lifetime
//	StatusRejected   "rejected"           the message was refused on the way
//	StatusDeleted    "deleted"            the message was deleted
//
// StatusUnknown prints and marshals as "unknown", but it is the empty string, also in a database: 'unknown' in a column is another
// value.
//
// The contract lists the words and numbers that mean a status (webhook.delivery.statuses). By default 1 is the only number,
// because no other has the same meaning in all services.
type Status string

// The states of a message. Status says what they mean.
const (
	StatusUnknown   Status = ""
	StatusQueued    Status = "queued"
	StatusSent      Status = "sent"
	StatusDelivered Status = "delivered"
	StatusRead      Status = "read"
	StatusPlayed    Status = "played"
	StatusFailed    Status = "failed"
	StatusExpired   Status = "expired"
	StatusRejected  Status = "rejected"
	StatusDeleted   Status = "deleted"
)

// Final reports whether the message has reached a final state: delivered, read, played, failed, expired, rejected or deleted. A later report may
// still supersede it: that the message was read, played or deleted, or that it was delivered although it had failed. Final is false for
// StatusUnknown.
func (s Status) Final() bool {
	switch s {
	case StatusDelivered, StatusRead, StatusPlayed, StatusFailed, StatusExpired, StatusRejected, StatusDeleted:
		return true
	default:
		return false
	}
}

// Failed reports whether the message did not arrive, as far as the service knows: StatusFailed, StatusExpired or StatusRejected. Some services
// report a failure too early; see Supersedes.
func (s Status) Failed() bool {
	switch s {
	case StatusFailed, StatusExpired, StatusRejected:
		return true
	default:
		return false
	}
}

// Supersedes reports whether a message that had the status old has this one now. Reports can arrive out of order, so store a status only
// if it supersedes the stored one: sent, then delivered, then read, then played. A failure supersedes what comes before a delivery, and a
// delivery supersedes a failure, which some services report too early. An equal status and StatusUnknown supersede nothing.
func (s Status) Supersedes(old Status) bool { return s.rank() > old.rank() }

// rank returns the place of a status in the life of a message. It is 0 for StatusUnknown and for a status without a constant.
func (s Status) rank() int {
	switch s {
	case StatusQueued:
		return 1
	case StatusSent:
		return 2
	case StatusFailed, StatusExpired, StatusRejected:
		return 3
	case StatusDelivered:
		return 4
	case StatusRead:
		return 5
	case StatusPlayed:
		return 6
	case StatusDeleted:
		return 7
	default:
		return 0
	}
}

// String returns the status, or "unknown" for StatusUnknown.
func (s Status) String() string {
	if s == StatusUnknown {
		return "unknown"
	}
	return string(s)
}

// MarshalText returns what String returns.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText returns. A word that is not a constant of this package stays as it is.
func (s *Status) UnmarshalText(text []byte) error {
	*s = Status(text)
	if *s == "unknown" {
		*s = StatusUnknown
	}
	return nil
}
