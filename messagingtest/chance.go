package messagingtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// chance is which requests take a fault by chance, and which one. The zero value is none. It is guarded by the server's
// mutex.
type chance struct {
	source *rand.Rand
	share  float64
	faults []Fault
}

// take draws for one request.
func (c *chance) take() Fault {
	if len(c.faults) == 0 || c.source.Float64() >= c.share {
		return Fault{}
	}
	return c.faults[c.source.IntN(len(c.faults))]
}

// InjectRandomly lets requests take faults by chance, whatever their path, from now on until it is called again or the
// server is reset. A request that begins and finds no fault of [Server.Inject] takes, with a probability of share, one of
// the faults, each of them as likely as the others: to make one likelier, name it more than once. A request that takes one
// of Inject draws nothing. A share of zero, or no faults, ends it.
//
// What is drawn depends on the seed alone, and the requests draw in the order in which they arrive: where one request
// follows the other, the same seed gives each of them the same fault again. Of requests that are under way at the same
// time the order is not known, but how many of the first n take which fault is the same with each run. A seed is for one
// release of this package: another may draw in another way.
//
// InjectRandomly panics if share is not a number from 0 to 1, or if one of the faults is a [Status] outside of 100 to 599.
func (s *Server) InjectRandomly(seed uint64, share float64, faults ...Fault) {
	if !(share >= 0 && share <= 1) { // nor NaN
		panic(fmt.Sprintf("messagingtest: InjectRandomly(%d, %v): the share is not in 0 to 1", seed, share))
	}
	for _, fault := range faults {
		if !fault.exists() {
			panic(fmt.Sprintf("messagingtest: InjectRandomly(%d, %v, %v): no HTTP status: it is not in 100 to 599", seed, share, fault))
		}
	}
	drawn := chance{}
	if share > 0 && len(faults) > 0 {
		drawn = chance{rand.New(rand.NewPCG(seed, 0)), share, slices.Clone(faults)} //nolint:gosec // what is drawn is no secret
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chance = drawn
}
