package conversations

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/phone"
)

// Person is a person on a channel, and the limits of that person's decision.
type Person struct {
	// Channel is the channel of the person's names. Required.
	Channel messaging.Channel
	// Number is a phone number, and UserID a user ID of the platform. One of them is required. If both are set, they identify one person
	// from then on. On chat apps each field takes either: Number can be the From of a message, even if it is a user ID.
	Number, UserID string
	// Sender is the sender that the decision applies to. Empty means all senders.
	Sender string
	// Marketing limits the decision to marketing. A person who stopped marketing still gets one-time codes.
	Marketing bool
	// At is the service's date of the decision. Zero means unknown.
	At time.Time
}

// ErrNoPerson is returned for a sender or recipient that is neither a phone number nor a user ID, for example an empty one. On SMS it must be a
// phone number, so it is also returned for a sender such as BANK, to whom no SMS can be sent. Retrying does not help, so a webhook handler should
// log it and return nil.
var ErrNoPerson = errors.New("conversations: neither a phone number nor a user ID")

// field is a name of a person as it was given, and the name of the field that holds it.
type field struct{ name, text string }

// scope selects decisions and windows of one person. names are all names of the person, sorted.
type scope struct {
	channel   messaging.Channel
	names     []string
	sender    string
	anySender bool
	marketing bool
}

// decisionChannels returns the channels on which a decision counts that arrives on a channel.
func (b *Book) decisionChannels(channel messaging.Channel) []string {
	if !b.options.AllChannels {
		return []string{channel.String()}
	}
	var all []string
	for _, channel := range channels() {
		all = append(all, channel.String())
	}
	slices.Sort(all) // in the order of the primary key, in which rows are locked
	return all
}

// person returns all names that the person with the known names has on the channels.
func (b *Book) person(ctx context.Context, tx *sql.Tx, onChannels []string, known []string) (names []string, err error) {
	rows, err := b.query(ctx, tx, `WITH RECURSIVE person(name) AS (
			VALUES @known
			UNION
			SELECT p.other FROM person JOIN conversation_person p ON p.name = person.name AND p.channel IN (@channels)
		) SELECT name FROM person ORDER BY name`, arguments{"known": column(known), "channels": onChannels})
	if err != nil {
		return nil, fmt.Errorf("conversations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err = rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("conversations: %w", err)
		}
		names = append(names, name)
	}
	if err = rows.Err(); err != nil {
		return nil, fmt.Errorf("conversations: %w", err)
	}
	return names, nil
}

func channels() []messaging.Channel {
	return []messaging.Channel{messaging.ChannelSMS, messaging.ChannelChatApp1, messaging.ChannelChatApp2}
}

// namesOf returns the normalized names of a person, sorted: one or two. On SMS one of them is a phone number.
func (b *Book) namesOf(channel messaging.Channel, number, userID field) (names []string, err error) {
	if !slices.Contains(channels(), channel) {
		return nil, errors.New("conversations: Channel: want messaging.ChannelSMS, ChannelChatApp1 or ChannelChatApp2")
	}
	if number.text == "" && userID.text == "" {
		return nil, fmt.Errorf("%w: %s is empty", ErrNoPerson, number.name)
	}
	if _, isPhone := phone.Key(number.text, b.options.CountryCode); channel == messaging.ChannelSMS && !isPhone {
		return nil, fmt.Errorf("%w: %s: an SMS goes to a phone number", ErrNoPerson, number.name)
	}
	for _, f := range []field{number, userID} {
		if f.text == "" {
			continue
		}
		name := b.nameOf(f.text)
		if name == "" {
			return nil, fmt.Errorf("%w: %s", ErrNoPerson, f.name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// nameOf returns a normalized phone number or user ID, or "" if the text is neither.
func (b *Book) nameOf(text string) string {
	if key, ok := phone.Key(text, b.options.CountryCode); ok {
		return key
	}
	const longestID = 255
	id := strings.TrimSpace(phone.Fold(text))
	isID := len(id) <= longestID && !strings.ContainsFunc(id, func(r rune) bool {
		const letters, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "0123456789"
		return !strings.ContainsRune(letters+digits+"._-:=@", r)
	})
	if !isID || strings.Trim(id, "._-:=@") == "" {
		return ""
	}
	return id
}

// senderOf returns the normalized name of a sender.
func (b *Book) senderOf(text string) string {
	const longest = 255
	name := cmp.Or(b.nameOf(text), strings.TrimSpace(phone.Fold(text)))
	name = strings.ToValidUTF8(name[:min(len(name), longest)], "")
	return strings.ToUpper(name)
}

// join stores that the names of namesOf belong to one person.
func (b *Book) join(ctx context.Context, tx *sql.Tx, channel messaging.Channel, names []string) error {
	if len(names) < 2 {
		return nil
	}
	_, err := b.exec(ctx, tx, `INSERT INTO conversation_person (channel, name, other) VALUES (@channel, @a, @b), (@channel, @b, @a)
		ON CONFLICT (channel, name, other) DO NOTHING`, arguments{"channel": channel.String(), "a": names[0], "b": names[1]})
	return err
}
