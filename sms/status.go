package sms

import "github.com/messaging-service/messaging-go/contract"

// Status is the state of a message. The zero value is StatusUnknown.
type Status = contract.Status

// The states of a message, see package contract. StatusUnknown: the row has no delivery status, or one that the contract does not list.
const (
	StatusUnknown   = contract.StatusUnknown
	StatusQueued    = contract.StatusQueued
	StatusSent      = contract.StatusSent
	StatusDelivered = contract.StatusDelivered
	StatusRead      = contract.StatusRead
	StatusPlayed    = contract.StatusPlayed
	StatusFailed    = contract.StatusFailed
	StatusExpired   = contract.StatusExpired
	StatusRejected  = contract.StatusRejected
	StatusDeleted   = contract.StatusDeleted
)
