package sms

import "github.com/messaging-service/messaging-go/contract"

// Status is the state of a message. The zero value is StatusUnknown.
type Status = contract.Status

// The states of a message.
const (
	// StatusUnknown: the row has no delivery status, or one that the contract does not list.
	StatusUnknown = contract.StatusUnknown
	// StatusQueued: the message waits in the service.
	StatusQueued = contract.StatusQueued
	// StatusSent: the message left for the network.
	StatusSent = contract.StatusSent
	// StatusDelivered: the message reached the recipient's device.
	StatusDelivered = contract.StatusDelivered
	// StatusRead: the recipient saw the message.
	StatusRead = contract.StatusRead
	// StatusPlayed: the recipient played the voice message.
	StatusPlayed = contract.StatusPlayed
	// StatusFailed: the message could not be delivered.
	StatusFailed = contract.StatusFailed
	// StatusExpired: the message was not delivered within its lifetime.
	StatusExpired = contract.StatusExpired
	// StatusRejected: the message was refused on the way.
	StatusRejected = contract.StatusRejected
	// StatusDeleted: the message was deleted.
	StatusDeleted = contract.StatusDeleted
)
