package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// selection has the flags that choose messages.
type selection struct {
	channel string
	reason  string
	file    string
	state   string
	stdin   io.Reader
}

// keys returns the messages that flags and arguments name.
func (s selection) keys(ctx context.Context, db database, references []string) ([]messagingriver.Key, error) {
	if s.reason != "" {
		if len(references) > 0 || s.file != "" {
			return nil, errors.New("--reason cannot be combined with reference IDs or --file")
		}
		return s.withReason(ctx, db)
	}
	if s.state != "" {
		return nil, errors.New("--state is for --reason; want no --state with reference IDs or --file")
	}
	listed, err := s.listed()
	if err != nil {
		return nil, err
	}
	references = append(references, listed...)
	if len(references) == 0 && s.file == "" { // a file may be empty
		return nil, errors.New("no messages are named; want reference IDs, --file or --reason")
	}
	var keys []messagingriver.Key
	for _, reference := range references {
		channel, err := s.channelOf(ctx, db, reference)
		if err != nil {
			return nil, err
		}
		keys = append(keys, messagingriver.Key{Channel: channel, Reference: reference})
	}
	return keys, nil
}

// channelOf returns the value of --channel, or the only channel that has a message with the reference ID. It returns "" if no channel or
// several have one.
func (s selection) channelOf(ctx context.Context, db database, reference string) (string, error) {
	if s.channel != "" {
		return s.channel, nil
	}
	records, err := db.Get(ctx, reference)
	if errors.Is(err, messaging.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if len(records) > 1 {
		return "", nil
	}
	return records[0].Channel, nil
}

// listed returns the reference IDs in the file of --file.
func (s selection) listed() ([]string, error) {
	if s.file == "" {
		return nil, nil
	}
	file, err := s.readFile()
	if err != nil {
		return nil, err
	}
	var references []string
	for line := range strings.Lines(string(file)) {
		if reference := strings.TrimSpace(line); reference != "" {
			references = append(references, reference)
		}
	}
	return references, nil
}

func (s selection) readFile() ([]byte, error) {
	if s.file == "-" {
		return io.ReadAll(s.stdin)
	}
	return os.ReadFile(s.file)
}

// withReason returns the messages of the channel in a state whose reason contains a text.
func (s selection) withReason(ctx context.Context, db database) ([]messagingriver.Key, error) {
	state := cmp.Or(rivertype.JobState(s.state), rivertype.JobStateDiscarded)
	if state != rivertype.JobStateDiscarded && state != rivertype.JobStateCancelled {
		return nil, fmt.Errorf("--state is %q; want discarded or cancelled", s.state)
	}
	matches := map[string][]messagingriver.Key{} // by channel
	for record, err := range db.List(ctx, state) {
		if err != nil {
			return nil, err
		}
		if strings.Contains(record.Reason, s.reason) {
			matches[record.Channel] = append(matches[record.Channel], record.Key)
		}
	}
	if s.channel == "" && len(matches) > 0 {
		var counts []string
		for _, channel := range slices.Sorted(maps.Keys(matches)) {
			counts = append(counts, fmt.Sprintf("%s: %d", channel, len(matches[channel])))
		}
		return nil, fmt.Errorf("--reason also wants --channel; it matches %s", strings.Join(counts, ", "))
	}
	return matches[s.channel], nil
}
