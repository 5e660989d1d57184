package main

import (
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// verdictHelp explains the words of verdictWord, for the help of commands.
const verdictHelp = `The verdicts are:

  waits       it was not sent yet, and will be
  unknown     it may have been sent: a worker has it, it is looked up, or nothing showed what became of it
  accepted    the service accepted it
  refused     the service refused it, and it will not be sent again; if the response names a message, it may have been sent
  not sent    it was not sent, and will not be`

// waits is the verdict on a message that was not sent yet. The other words are those of messaging.Verdict.
const waits = "waits"

// verdictWord returns the verdict on a message in a word of verdictHelp.
func verdictWord(record messagingriver.Record) string {
	wasAttempted := !record.Attempted.IsZero()
	isUnknown := record.Verdict == messaging.Unknown && wasAttempted
	isFinal := !record.Finalized.IsZero() || record.EndsAs != ""
	isRunning := record.State == rivertype.JobStateRunning && !isFinal
	switch {
	case record.Verdict == messaging.Accepted:
		return record.Verdict.String()
	case isUnknown:
		return messaging.Unknown.String()
	case record.ResolvedNotSent:
		return messaging.NotSent.String()
	case isRunning:
		return messaging.Unknown.String()
	case !isFinal:
		return waits
	case record.Verdict == messaging.Refused:
		return record.Verdict.String()
	default:
		return messaging.NotSent.String()
	}
}
