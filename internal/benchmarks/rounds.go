package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// plan is what is to be measured.
type plan struct {
	works        []work
	observations []observation
	rounds       int
	length       time.Duration
	short        bool
}

// results are the samples by work and contender, one for each round, and what was observed.
type results struct {
	samples  map[string]map[string][]sample
	observed map[string]observed
}

// run measures round by round. In each, the contenders of a work follow each other in another order, so that none always has the
// same one before it, and what else the machine does weighs on all of them.
func (p plan) run(ctx context.Context, do func(context.Context, task) (result, error), progress io.Writer) (results, error) {
	all := results{samples: map[string]map[string][]sample{}, observed: map[string]observed{}}
	for _, o := range p.observations {
		r, err := do(ctx, task{Work: o.name, Short: p.short})
		if err != nil {
			return results{}, err
		}
		all.observed[o.name] = r.Observed
	}
	for round := range p.rounds {
		began := time.Now()
		for _, w := range p.works {
			if all.samples[w.name] == nil {
				all.samples[w.name] = map[string][]sample{}
			}
			order := rand.New(rand.NewPCG(uint64(round), uint64(len(w.contenders)))).Perm(len(w.contenders))
			for _, i := range order {
				name := w.contenders[i].name
				r, err := do(ctx, task{Work: w.name, Contender: name, Length: p.length, Short: p.short})
				if err != nil {
					return results{}, err
				}
				all.samples[w.name][name] = append(all.samples[w.name][name], r.Sample)
			}
		}
		_, _ = fmt.Fprintf(progress, "round %d of %d took %s\n", round+1, p.rounds, time.Since(began).Round(time.Second))
	}
	return all, nil
}
