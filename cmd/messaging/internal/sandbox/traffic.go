package sandbox

// trafficLog holds the latest exchanges.
type trafficLog struct {
	bounds    bounds
	all       []*Exchange // in the order in which they ended
	byID      map[int]*Exchange
	byRequest map[string]*Exchange // by the IDs of requests, including requests in progress
	bytes     int
}

func newTrafficLog(b bounds) trafficLog {
	return trafficLog{bounds: b, byID: map[int]*Exchange{}, byRequest: map[string]*Exchange{}}
}

// add enters an exchange and drops the oldest ones beyond the bounds.
func (t *trafficLog) add(x *Exchange) {
	x.bytes = x.size()
	t.bytes += x.bytes
	t.all = append(t.all, x)
	t.byID[x.ID] = x
	for len(t.all) > t.bounds.exchanges || (t.bytes > t.bounds.traffic && len(t.all) > 1) {
		t.removeOldest()
	}
}

func (t *trafficLog) removeOldest() {
	oldest := t.all[0]
	t.all[0] = nil
	t.all = t.all[1:]
	t.bytes -= oldest.bytes
	delete(t.byID, oldest.ID)
	for _, id := range oldest.requestIDs {
		delete(t.byRequest, id)
	}
}

// getTraffic returns exchanges.
func (s *Sandbox) getTraffic(r *request) (any, error) {
	after := r.number("after", 1)
	part := r.part(after > 0)
	if err := r.check(); err != nil {
		return nil, err
	}
	st := s.lock()
	defer st.unlock()
	all := []Exchange{}
	for _, x := range st.traffic.all {
		if x.ID > after {
			all = append(all, st.withMessage(x))
		}
	}
	return map[string]any{"exchanges": window(all, part)}, nil
}
