package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Inspection is a comparison of the records with the tokens in the stream.
type Inspection struct {
	// Missing counts open messages without a token: nobody would send them. Inspect with repair creates their tokens.
	Missing int
	// Lost counts tokens without a record. Inspect with repair parks these messages: load them again.
	Lost int
	// Unreadable counts records of another version, or damaged ones. They are left alone.
	Unreadable int
}

// Inspect compares every record with the tokens in the stream, and repairs what it finds if repair is set. Workers and loaders can run
// meanwhile. It takes about 50 bytes for each token.
func Inspect(ctx context.Context, c *engine.Connection, repair bool, log *slog.Logger) (found Inspection, err error) {
	r, err := openRecords(ctx, c, log)
	if err != nil {
		return found, err
	}
	subjects, keys := map[uint64]struct{}{}, map[uint64]struct{}{}
	err = r.eachToken(ctx, func(subject, key string) error {
		subjects[hash64(subject)], keys[hash64(key)] = struct{}{}, struct{}{}
		return nil
	})
	if err != nil {
		return found, err
	}
	for e, err := range All(ctx, c) {
		if err != nil && !errors.Is(err, ErrUnreadable) {
			return found, err
		}
		delete(keys, hash64(e.Key))
		if err != nil {
			found.Unreadable++
			continue
		}
		if _, ok := subjects[hash64(r.subject(e))]; ok || e.State.IsFinal() {
			continue
		}
		missing, err := r.isMissing(ctx, e.Key, repair)
		if err != nil {
			return found, err
		}
		if missing {
			found.Missing++
		}
	}
	if len(keys) == 0 {
		return found, nil
	}
	return found, r.eachToken(ctx, func(_, key string) error {
		if _, ok := keys[hash64(key)]; !ok {
			return nil
		}
		e, err := r.read(ctx, key)
		if errors.Is(err, ErrUnreadable) || e.revision != 0 {
			return nil
		}
		if err == nil && repair {
			_, _, err = r.swap(ctx, e, lostRecord())
		}
		if err == nil {
			found.Lost++
		}
		return err
	})
}

// lostRecord returns the record of a message of which only the token is left.
func lostRecord() Record {
	return Record{State: Parked, Lane: string(Normal), Reason: "the engine lost the record: load the message again"}
}

// isMissing reports whether a message is still open and without a token, and creates the token if repair is set.
func (r records) isMissing(ctx context.Context, key string, repair bool) (bool, error) {
	e, err := r.read(ctx, key)
	if errors.Is(err, ErrUnreadable) || err == nil && (e.revision == 0 || e.State.IsFinal()) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if repair {
		return r.publish(ctx, e)
	}
	stream, err := r.engine.Stream(ctx, engine.Outbox)
	if err != nil {
		return false, err
	}
	_, err = stream.GetLastMsgForSubject(ctx, r.subject(e))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true, nil
	}
	return false, err
}

// eachToken calls handle for each token in the stream.
func (r records) eachToken(ctx context.Context, handle func(subject, key string) error) error {
	for offset := 0; ; {
		// The client would collect all subjects at once; a page is at most 100,000.
		page, total, err := r.subjects(ctx, offset)
		if err != nil {
			return err
		}
		for subject := range page {
			if key, ok := keyOfSubject(subject); ok {
				if err = handle(subject, key); err != nil {
					return err
				}
			}
		}
		if offset += len(page); len(page) == 0 || offset >= total {
			return nil
		}
	}
}

func (r records) subjects(ctx context.Context, offset int) (page map[string]int, total int, err error) {
	request, err := json.Marshal(map[string]any{"subjects_filter": ">", "offset": offset})
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	response, err := r.engine.NATS.RequestWithContext(ctx, "$JS.API.STREAM.INFO."+r.engine.Name(engine.Outbox), request)
	if err != nil {
		return nil, 0, fmt.Errorf("outbox: listing the tokens: %w", err)
	}
	var info struct {
		Total int
		State struct{ Subjects map[string]int }
		Error *jetstream.APIError
	}
	if err = json.Unmarshal(response.Data, &info); err == nil && info.Error != nil {
		err = info.Error
	}
	if err != nil {
		return nil, 0, fmt.Errorf("outbox: listing the tokens: %w", err)
	}
	return info.State.Subjects, info.Total, nil
}

func hash64(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}
