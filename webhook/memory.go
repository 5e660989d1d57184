package webhook

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math"
	"sync"
	"time"
)

// MemoryStore is a [Store] in the memory of one process. NewMemoryStore makes one; it is safe for concurrent use, and starts
// no goroutine.
//
// It forgets everything when the process ends: a message that was handled just before is handled again if the service
// calls again. Several processes behind a load balancer need a Store that they share.
type MemoryStore struct {
	size int
	ttl  time.Duration
	born time.Time // what the times below count from
	seed maphash.Seed

	mu      sync.Mutex
	slabs   []*[slabSize]memory // all memories; none holds a pointer, so the collector has nothing to look at
	made    uint32              // how many memories there are
	free    []uint32            // those that were forgotten, to be used again
	slots   []slot              // the memories by the hash of their key, with twice the room at least
	mask    uint32              // the number of slots, a power of two, less one
	held    int                 // keys, whatever their state
	pending struct{ first, last uint32 }
	done    queue
	doneLen int // what is done
	stale   int // how many in the queue are there no longer
}

// slot is a place in a hash table with linear probing. It has a part of the hash, so that a search reads no memory but
// that which it looks for.
type slot struct{ hash, number uint32 }

// memory is what is known of a key. Memories name each other by their number; 0 is none.
type memory struct {
	heldKey

	done   bool
	serial uint32        // of the claim: one memory serves for many keys, one after the other
	until  time.Duration // the end of the lease, or of counting as done
	early  time.Duration // the end of counting as done of a key that has a window; 0 for others

	prev, next uint32 // the neighbours in the list of what is pending, in the order of the claims
}

const (
	slabSize    = 256
	longestHeld = 64
	isHash      = -1
)

// heldKey is a key as a memory holds it.
type heldKey struct {
	hash   uint64
	length int // of the key; isHash where it is the hash of a longer one
	key    [longestHeld]byte
}

// lease names a claim, for whoever holds it.
type lease struct{ number, serial uint32 }

// NewMemoryStore makes a store that remembers up to size events, a few hundred million at most, for ttl after each was
// completed; the oldest is forgotten first. That takes some 130 bytes for each. An event that is being handled is never
// forgotten for want of room, so what is being handled comes on top of size.
//
// ttl is also the lease of a claim: a function that has not returned by then is given up, and the next delivery of its
// event is handled. See [Store] on what that means; a handler whose lease is over releases nobody else's claim here. Make
// ttl longer than the service keeps calling again.
//
// A size or ttl that is not positive panics.
func NewMemoryStore(size int, ttl time.Duration) *MemoryStore {
	if size <= 0 || ttl <= 0 {
		panic("webhook: NewMemoryStore: size or ttl is not positive")
	}
	const (
		slots   = 128 // grows
		largest = 1 << 30
	)
	return &MemoryStore{
		size: min(size, largest), ttl: ttl, born: time.Now(), seed: maphash.MakeSeed(), made: 1, slots: make([]slot, slots), mask: slots - 1,
	}
}

// Claim claims a key. It returns no error, and does not look at the context.
func (s *MemoryStore) Claim(_ context.Context, key string) (ClaimState, error) {
	state, _ := s.claim([]byte(key), 0)
	return state, nil
}

// Complete marks a key as done, whether it is claimed or not. It returns no error, and does not look at the context.
func (s *MemoryStore) Complete(_ context.Context, key string) error {
	s.complete([]byte(key))
	return nil
}

// Release gives a claim back; a key that is done stays done. It returns no error, and does not look at the context.
func (s *MemoryStore) Release(_ context.Context, key string) error {
	k := s.hash([]byte(key))
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.find(&k); n != 0 && !s.at(n).done {
		s.dropPending(n)
	}
	return nil
}

// claim claims a key that, once done, counts for a window from now, or for the ttl where the window is 0.
func (s *MemoryStore) claim(key []byte, window time.Duration) (ClaimState, lease) {
	k := s.hash(key)
	now := time.Since(s.born)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(now)
	if n := s.findLive(&k, now); n != 0 {
		if s.at(n).done {
			return Done, lease{}
		}
		return InProgress, lease{}
	}
	n, m := s.hold(&k)
	m.until = now + s.ttl
	if window > 0 {
		m.early = now + min(window, s.ttl)
	}
	return Claimed, lease{number: n, serial: m.serial}
}

// complete marks a key as done, whether it is claimed or not.
func (s *MemoryStore) complete(key []byte) {
	k := s.hash(key)
	now := time.Since(s.born)
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.findLive(&k, now)
	if n == 0 { // the lease was over, and the key forgotten
		n, _ = s.hold(&k)
	}
	s.finish(n)
}

// end completes or releases a claim. False: its lease was over, and the memory is another's.
func (s *MemoryStore) end(l lease, done bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m := s.at(l.number); {
	case m.serial != l.serial:
		return false
	case done:
		s.finish(l.number)
	case !m.done:
		s.dropPending(l.number)
	}
	return true
}

// finish marks a key as done, and forgets the oldest that is where there are too many.
func (s *MemoryStore) finish(n uint32) {
	m := s.at(n)
	if m.done {
		return
	}
	s.unlink(m)
	m.done, m.until = true, time.Since(s.born)+s.ttl
	if m.early > 0 {
		m.until = m.early
	}
	s.doneLen++
	for s.doneLen > s.size || s.done.length >= 2*s.size {
		s.forgetOldest()
	}
	s.done.push(doneMemory{until: m.until, number: n, serial: m.serial, hash: short(m.hash)})
}

func (s *MemoryStore) hash(key []byte) heldKey {
	k := heldKey{hash: maphash.Bytes(s.seed, key)}
	if len(key) > len(k.key) {
		sum := sha256.Sum256(key)
		copy(k.key[:], sum[:])
		k.length = isHash
	} else {
		k.length = copy(k.key[:], key)
	}
	return k
}

func (s *MemoryStore) at(n uint32) *memory { return &s.slabs[n/slabSize][n%slabSize] }

// short is the part of a hash that a slot has.
func short(hash uint64) uint32 { return uint32(hash & math.MaxUint32) }

func (s *MemoryStore) find(k *heldKey) uint32 {
	hash := short(k.hash)
	for i := hash & s.mask; s.slots[i].number != 0; i = (i + 1) & s.mask {
		if n := s.slots[i].number; s.slots[i].hash == hash && s.at(n).heldKey == *k {
			return n
		}
	}
	return 0
}

// findLive finds a key that is not over. One that is, and was not forgotten yet, it drops.
func (s *MemoryStore) findLive(k *heldKey, now time.Duration) uint32 {
	n := s.find(k)
	if n == 0 {
		return 0
	}
	switch m := s.at(n); {
	case now < m.until:
		return n
	case m.done:
		m.serial++
		s.stale++ // it stays in the queue
		s.dropDone(n, short(m.hash))
	default:
		s.dropPending(n)
	}
	return 0
}

// place puts a memory into the table.
func (s *MemoryStore) place(hash, n uint32) {
	i := hash & s.mask
	for s.slots[i].number != 0 {
		i = (i + 1) & s.mask
	}
	s.slots[i] = slot{hash: hash, number: n}
}

// displace takes a memory out of the table. Those behind it that are not in their own place move up, so that no search ends
// too early.
func (s *MemoryStore) displace(hash, n uint32) {
	hole := hash & s.mask
	for s.slots[hole].number != n {
		hole = (hole + 1) & s.mask
	}
	for i := (hole + 1) & s.mask; s.slots[i].number != 0; i = (i + 1) & s.mask {
		if away := (i - s.slots[i].hash) & s.mask; away >= (i-hole)&s.mask {
			s.slots[hole], hole = s.slots[i], i
		}
	}
	s.slots[hole] = slot{}
}

// hold makes a memory of a key, in progress.
func (s *MemoryStore) hold(k *heldKey) (uint32, *memory) {
	if s.held++; s.held > len(s.slots)/2 {
		s.grow()
	}
	var n uint32
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
	} else {
		n = s.made
		if s.made++; int(n/slabSize) == len(s.slabs) {
			s.slabs = append(s.slabs, new([slabSize]memory))
		}
	}
	m := s.at(n)
	m.heldKey, m.done, m.early = *k, false, 0
	m.serial++
	s.place(short(k.hash), n)
	m.prev, m.next = s.pending.last, 0
	if m.prev != 0 {
		s.at(m.prev).next = n
	} else {
		s.pending.first = n
	}
	s.pending.last = n
	return n, m
}

// grow doubles the room.
func (s *MemoryStore) grow() {
	old := s.slots
	s.slots, s.mask = make([]slot, 2*len(old)), 2*s.mask+1
	for _, one := range old {
		if one.number != 0 {
			s.place(one.hash, one.number)
		}
	}
}

// forget drops what is over, some at a time: nobody waits for a store that was idle. What is pending and what is done is in
// the order in which it ends, but for windows, which end early. Whatever is over and still there is found so when its key
// comes.
func (s *MemoryStore) forget(now time.Duration) {
	const most = 8 // more than one claim adds
	for range most {
		switch {
		case s.pending.first != 0 && now >= s.at(s.pending.first).until:
			s.dropPending(s.pending.first)
		case s.done.length > 0 && now >= s.done.oldest().until:
			s.forgetOldest()
		default:
			return
		}
	}
}

// forgetOldest drops what was done first. It does not read the memory, which nobody has looked at for long.
func (s *MemoryStore) forgetOldest() {
	oldest := s.done.oldest()
	s.done.pop()
	if s.stale > 0 && s.at(oldest.number).serial != oldest.serial {
		s.stale--
		return
	}
	s.dropDone(oldest.number, oldest.hash)
}

// dropPending forgets a claim. Whoever holds it has lost it.
func (s *MemoryStore) dropPending(n uint32) {
	m := s.at(n)
	s.unlink(m)
	m.serial++
	s.displace(short(m.hash), n)
	s.held--
	s.free = append(s.free, n)
}

func (s *MemoryStore) dropDone(n, hash uint32) {
	s.displace(hash, n)
	s.doneLen--
	s.held--
	s.free = append(s.free, n)
}

// unlink takes a memory out of the list of what is pending.
func (s *MemoryStore) unlink(m *memory) {
	if m.prev != 0 {
		s.at(m.prev).next = m.next
	} else {
		s.pending.first = m.next
	}
	if m.next != 0 {
		s.at(m.next).prev = m.prev
	} else {
		s.pending.last = m.prev
	}
}

// doneMemory is what the queue of what is done has of a memory.
type doneMemory struct {
	until  time.Duration
	number uint32
	serial uint32
	hash   uint32
}

// queue is a ring that grows.
type queue struct {
	ring   []doneMemory
	first  int
	length int
}

func (q *queue) oldest() doneMemory { return q.ring[q.first] }

func (q *queue) push(one doneMemory) {
	if q.length == len(q.ring) {
		ring := make([]doneMemory, max(64, 2*len(q.ring)))
		n := copy(ring, q.ring[q.first:])
		copy(ring[n:], q.ring[:q.first])
		q.ring, q.first = ring, 0
	}
	q.ring[(q.first+q.length)&(len(q.ring)-1)] = one
	q.length++
}

func (q *queue) pop() {
	q.first = (q.first + 1) & (len(q.ring) - 1)
	q.length--
}

// Format prints size and ttl, in every verb, and none of the keys.
func (s *MemoryStore) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "webhook.MemoryStore{size: %d, ttl: %s}", s.size, s.ttl)
}

// LogValue logs what Format prints.
func (s *MemoryStore) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }
