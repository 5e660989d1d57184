package messagingriver

// MaintainAtOnce has River's maintenance begin without a random delay, in all tests.
func MaintainAtOnce() { startsAtOnce = true }
