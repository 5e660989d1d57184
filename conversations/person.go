package conversations

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/phone"
)

// Person is a person on a channel, and what a decision of that person is limited to.
type Person struct {
	Channel messaging.Channel
	// Number and UserID are how the person is known: a phone number, the platform's user ID, or both, which are one person from then on.
	Number, UserID string
	// Sender is the sender of ours that the decision holds for. Empty means all of them.
	Sender string
	// Marketing limits the decision to marketing. A person who stopped marketing still gets one-time codes.
	Marketing bool
	// At is how the service dates the decision. The zero time means that it is not dated.
	At time.Time
}

// ErrNoPerson matches an error of a sender or recipient that is neither a phone number nor a user ID, such as an empty one. It will be the
// same next time: a handler that meets it should not ask for the callback again.
var ErrNoPerson = errors.New("conversations: neither a phone number nor a user ID")

// named is a name of a person, and the field that holds it.
type named struct{ field, text string }

// query says of whom, and of what, something is asked. names are all names of the person, sorted.
type query struct {
	channel   messaging.Channel
	names     []string
	sender    string
	anySender bool
	marketing bool
}

// in returns the names of a person as a list of SQL, and the arguments of a statement with them behind.
func (q query) in(args ...any) (list string, all []any) {
	var places []string
	for _, name := range q.names {
		args = append(args, name)
		places = append(places, "$"+strconv.Itoa(len(args)))
	}
	return "(" + strings.Join(places, ", ") + ")", args
}

// person returns all names of a person who is known by one or two of them.
func (b *Book) person(ctx context.Context, tx *sql.Tx, channel messaging.Channel, known [2]string) (names []string, err error) {
	rows, err := b.query(ctx, tx, `WITH RECURSIVE person(name) AS (
			SELECT CAST($2 AS TEXT) UNION SELECT CAST($3 AS TEXT)
			UNION
			SELECT p.other FROM person JOIN conversation_person p ON p.channel = $1 AND p.name = person.name
		) SELECT name FROM person ORDER BY name`, channel.String(), known[0], known[1])
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

// namesOf returns the names of a person in the form in which they are compared, sorted. One of them may be absent: both are then the same.
func (b *Book) namesOf(channel messaging.Channel, number, userID named) (names [2]string, err error) {
	if !slices.Contains(channels(), channel) {
		return names, errors.New("conversations: Channel: want messaging.ChannelSMS, ChannelChatApp1 or ChannelChatApp2")
	}
	if number.text == "" && userID.text == "" {
		return names, fmt.Errorf("%w: %s is empty", ErrNoPerson, number.field)
	}
	var known []string
	for _, one := range []named{number, userID} {
		if one.text == "" {
			continue
		}
		name := b.nameOf(one.text)
		if name == "" {
			return names, fmt.Errorf("%w: %s", ErrNoPerson, one.field)
		}
		known = append(known, name)
	}
	names = [2]string{slices.Min(known), slices.Max(known)}
	return names, nil
}

// nameOf returns a number or a user ID in the form in which it is compared, or "" if it is neither.
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

// senderOf returns a sender of ours in the form in which it is compared.
func (b *Book) senderOf(text string) string {
	const longest = 255
	name := cmp.Or(b.nameOf(text), strings.TrimSpace(phone.Fold(text)))
	name = strings.ToValidUTF8(name[:min(len(name), longest)], "")
	return strings.ToUpper(name)
}

// join notes that two names are of one person.
func (b *Book) join(ctx context.Context, tx *sql.Tx, channel messaging.Channel, names [2]string) error {
	if names[0] == names[1] {
		return nil
	}
	_, err := b.exec(ctx, tx, `INSERT INTO conversation_person (channel, name, other) VALUES ($1, $2, $3), ($1, $3, $2)
		ON CONFLICT (channel, name, other) DO NOTHING`, channel.String(), names[0], names[1])
	return err
}
