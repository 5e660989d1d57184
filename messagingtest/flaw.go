package messagingtest

// flaw is the first thing that is wrong with a message. Its text names fields, and never repeats a value. The zero flaw
// is none.
type flaw struct{ code, text string }

func (f flaw) found() bool { return f.code != "" }

// firstFlaw is for checks that can be made in any order.
func firstFlaw(flaws ...flaw) flaw {
	for _, f := range flaws {
		if f.found() {
			return f
		}
	}
	return flaw{}
}
