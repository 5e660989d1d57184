package webhook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// The default contract stands here as code. It has to be the one of package contract.
func TestTheDefaultNamesAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	want, got := compile(contract.Default()), defaultWire()
	c := contract.Default()
	all := map[string]bool{"": true, "none": true, "From": true}
	for _, lists := range []any{c.WebhookSMS.Params, c.WebhookChatApp1.Params, c.WebhookChatApp2.Params, c.WebhookDelivery.Params} {
		for _, list := range listsOf(lists) {
			for _, name := range list {
				all[name], all[name+"x"], all[strings.ToUpper(name)] = true, true, true
			}
		}
	}
	require.Greater(t, len(all), 100)
	for name := range all {
		for event, pair := range map[string][2]names{
			eventSMS: {want.sms, got.sms}, eventChatApp1: {want.chatApp1, got.chatApp1}, eventChatApp2: {want.chatApp2, got.chatApp2}, eventDelivery: {want.delivery, got.delivery},
		} {
			assert.Equal(t, pair[0].find(name), pair[1].find(name), "%s in %s", name, event)
			assert.Empty(t, pair[0].other[name], "the code has no place for a name that stands for two concepts: %s", name)
		}
	}
	assert.Equal(t, want.zones, got.zones)
	for c := range concepts {
		assert.Equal(t, want.placeholders(c), got.placeholders(c), "placeholder %d", c)
	}
	for _, list := range listsOf(c.WebhookDelivery.Statuses) {
		for _, word := range list {
			for _, word := range []string{word, strings.ToUpper(word), word + "x"} {
				assert.Equal(t, want.statuses(word), got.statuses(word), word)
			}
		}
	}
}

func TestAPlaceHoldsWhatWasPutIn(t *testing.T) {
	t.Parallel()
	p := at(ofLongitude, 123456).orJSON(654321)
	assert.Equal(t, ofLongitude, p.concept())
	assert.EqualValues(t, 123456, p.rank())
	assert.EqualValues(t, 654322, p.json())
	assert.Zero(t, p&alsoOther|p&oddName)
	assert.Zero(t, at(ofStatus, longestList).json())
}

func TestANameMayStandForSeveralConcepts(t *testing.T) {
	t.Parallel()
	n := compileNames(map[concept][]string{ofID: {"a", "x", "a"}, ofReference: {"b", "x"}, ofTime: {"x"}, ofKind: {"ä"}}, []string{"x", "j", "x"})
	assert.Equal(t, at(ofID, 0), n.find("a"))
	assert.Equal(t, at(ofID, 1).orJSON(0)|alsoOther, n.find("x"))
	assert.Equal(t, []place{at(ofTime, 0), at(ofReference, 1)}, n.other["x"], "in the order of the concepts")
	assert.Equal(t, at(ofNothing, 0).orJSON(1), n.find("j"))
	assert.Equal(t, at(ofKind, 0)|oddName, n.find("ä"))
	assert.Zero(t, n.find("none"))
	rank, ok := n.rankOf("x", ofReference)
	assert.True(t, ok)
	assert.EqualValues(t, 1, rank)
	_, ok = n.rankOf("j", ofNothing)
	assert.False(t, ok)
}

// listsOf gives the lists of a struct of the contract.
func listsOf(structure any) [][]string {
	switch p := structure.(type) {
	case contract.WebhookSMSParams:
		return [][]string{p.ID, p.From, p.To, p.Text, p.Time, p.Reference, p.Operator, p.Keyword}
	case contract.WebhookChatAppParams:
		return [][]string{
			p.ID, p.From, p.To, p.Text, p.Time, p.Reference, p.Name, p.Kind, p.MediaURL, p.MediaID, p.MIMEType, p.Caption, p.FileName, p.Latitude, p.Longitude, p.JSON,
		}
	case contract.WebhookDeliveryParams:
		return [][]string{p.ID, p.Reference, p.Status, p.Time, p.Kind, p.From, p.To}
	case contract.Statuses:
		return [][]string{p.Delivered, p.Read, p.Queued, p.Sent, p.Failed, p.Expired, p.Rejected}
	default:
		panic("no such lists")
	}
}

// A value that is plain is decoded to itself; it does not matter if another is found not to be.
func TestWhatIsPlainNeedsNoDecoding(t *testing.T) {
	t.Parallel()
	for length := range 40 {
		for at := range length {
			for c := range 256 {
				b := []byte(strings.Repeat("a", length))
				b[at] = byte(c)
				text := string(b)
				if isPlain(text) {
					require.Equal(t, text, decode(text))
				} else if c > '+' && c < 0x80 {
					require.Fail(t, "a letter is not plain", "%q", text)
				}
			}
		}
	}
	assert.True(t, isPlain(""))
}

func TestHexadecimalDigits(t *testing.T) {
	t.Parallel()
	require.Len(t, digits, 256)
	want := map[byte]byte{}
	for i, c := range []byte("0123456789abcdef") {
		want[c] = byte(i)
	}
	for i, c := range []byte("ABCDEF") {
		want[c] = byte(i + 10)
	}
	for c := range 256 {
		if n, ok := want[byte(c)]; ok {
			assert.Equal(t, n, digits[c], "%q", c)
		} else {
			assert.Equal(t, byte(noDigit), digits[c], "%q", c)
		}
	}
}

// The standard's table, by what the code page says; a character alone, so that no two make one of UTF-8.
func TestWindows1252(t *testing.T) {
	t.Parallel()
	const page = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	runes := []rune(page)
	require.Len(t, runes, 32)
	for c := 0x80; c < 0x100; c++ {
		want := rune(c)
		if c < 0xa0 {
			want = runes[c-0x80]
		}
		assert.Equal(t, "a"+string(want)+"b", repair("a"+string([]byte{byte(c)})+"b"), "%x", c)
	}
	assert.Len(t, slices.Collect(maps.Keys(map[string]int{repair("é"): 1, "é": 2})), 1)
}
