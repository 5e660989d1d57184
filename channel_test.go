package messaging_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/channeltest"
	"github.com/messaging-service/messaging-go/internal/table"
)

// A channel is a service of the client that sends, for what must hold for all of them.
type channel struct {
	name    string // as in its operation, "sms.send"
	send    func(ctx context.Context, client *messaging.Client, to, text, reference string) (id string, err error)
	sendAll func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent]
}

// A sent is an Outcome of any channel.
type sent struct {
	index         int
	reference, id string
	err           error
}

// operation returns the name of the operation that sends.
func (c channel) operation() string { return c.name + ".send" }

// channels are those of channeltest, whose messages go to one number.
var channels = func() (all []channel) {
	for _, c := range channeltest.Channels() {
		all = append(all, channel{
			c.Name, c.Send,
			func(ctx context.Context, client *messaging.Client, references iter.Seq[string], concurrency int) iter.Seq[sent] {
				messages := each(references, func(reference string) channeltest.Draft {
					return channeltest.Draft{To: chatNumber, Text: "x", Reference: reference}
				})
				return each(c.SendAll(ctx, client, messages, concurrency), func(o channeltest.Result) sent {
					return sent{o.Index, o.Reference, o.ID, o.Err}
				})
			},
		})
	}
	return all
}()

// chatApps are the channels that no listing exists for.
var chatApps = channels[1:]

// each returns a sequence with do applied to each element, or nil for nil.
func each[A, B any](all iter.Seq[A], do func(A) B) iter.Seq[B] {
	if all == nil {
		return nil
	}
	return func(yield func(B) bool) {
		for one := range all {
			if !yield(do(one)) {
				return
			}
		}
	}
}

func TestParseChannel(t *testing.T) {
	t.Parallel()
	for _, want := range table.Channels() {
		channel, err := messaging.ParseChannel(want.Name)
		require.NoError(t, err, want.Name)
		assert.NotZero(t, channel, want.Name)
		assert.Equal(t, want.Name, channel.String())
	}
	for _, name := range []string{"", "account", "SMS", " sms", "channel 4", "639171234567"} {
		channel, err := messaging.ParseChannel(name)
		require.Error(t, err, name)
		assert.Zero(t, channel, name)
		assert.NotContains(t, err.Error(), "639171234567")
		for _, known := range table.Channels() {
			assert.ErrorContains(t, err, known.Name)
		}
	}
}

func TestChannelsAreComplete(t *testing.T) {
	t.Parallel()
	var services, tested, constants []string
	for field := range reflect.TypeFor[messaging.Client]().Fields() {
		if _, sends := field.Type.MethodByName("Send"); field.IsExported() && sends {
			services = append(services, strings.ToLower(field.Name))
		}
	}
	for _, channel := range channels {
		tested = append(tested, channel.name)
	}
	for i := range table.Channels() {
		constants = append(constants, messaging.Channel(i+1).String())
	}
	assert.ElementsMatch(t, services, tested, "every service of Client that sends needs its line in internal/channeltest")
	assert.Equal(t, tested, constants, "the constants of client.go and the lines of internal/channeltest have one order")
	assert.Contains(t, messaging.Channel(len(channels)+1).String(), "channel ", "a channel without a service")
}

// A user copies the program of a channel. The folder may say more behind the channel's name, as sms-send does.
func TestEveryChannelHasAProgram(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		programs, err := filepath.Glob("examples/" + channel.name + "*")
		require.NoError(t, err)
		assert.NotEmpty(t, programs, "examples/%s", channel.name)
	}
}

func TestReadmeNamesEveryChannel(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, c := range table.Channels() {
		assert.Contains(t, strings.ToLower(string(readme)), strings.ToLower(c.Title))
	}
}
