package learn

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

// TestLearnNotesTimesWithoutOffset: UTC is assumed, which may shift a day, so the overlay and the terminal say it.
func TestLearnNotesTimesWithoutOffset(t *testing.T) {
	t.Parallel()
	for time, want := range map[string]bool{
		"2026-11-22 14:05:00":             true,
		"2026-11-22T14:05:00":             true,
		"2026-11-22T14:05:00.123":         true,
		"2026-11-22T14:05:00Z":            false,
		"2026-11-22T14:05:00.123Z":        false,
		"2026-11-22T14:05:00+08:00":       false,
		"2026-11-22T14:05:00-0700":        false,
		"Sun, 22 Nov 2026 14:05:00 GMT":   false,
		"Sun, 22 Nov 2026 14:05:00 +0000": false,
		"1795356300":                      false,
		"1795356300000":                   false,
	} {
		row := "=== row\nid: h-1\ncreated: " + time + "\n\n" + `{"rows": [{"messageId": "h-1", "at": "` + time + `"}]}` + "\n"
		report := "=== delivery\nid: h-1\nstatus: DELIVRD\ntime: " + time + "\n\n" + `{"messageId": "h-1", "status": "DELIVRD", "time": "` + time + `"}` + "\n"
		status, _, progress := run(t, requestText+acceptedText+row+report, false)
		require.Equal(t, cli.ExitOK, status, progress)
		got, err := learnObject(t, requestText+acceptedText+row+report)
		require.NoError(t, err)
		for _, section := range []string{"sms.list", "webhook.delivery"} {
			note, _ := at(got, section, "zone//").(string)
			assert.Equal(t, want, note != "", time)
			assert.Nil(t, at(got, section, "zone"))
			if want {
				assert.Contains(t, note, "UTC is assumed")
				assert.Contains(t, progress, section+".zone: "+note)
			}
		}
		assert.Nil(t, at(got, "webhook.sms", "zone//"), "it has no time")
		assert.Nil(t, at(got, "sms.list", "layouts//"), "the time is read")
	}
}

// TestLearnNotesUnreadTime: after an unusual time was removed from the examples, the overlay reminds of it.
func TestLearnNotesUnreadTime(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText+"=== row\nid: h-1\n\n"+`{"rows": [{"messageId": "h-1", "at": "5th of May"}]}`)
	require.NoError(t, err)
	assert.Contains(t, at(got, "sms.list", "layouts//"), "no time of the row is read")
}

// TestLearnNotesMissingCreated: the time at which a message went out is read. It is not the time at which the service took the message.
func TestLearnNotesMissingCreated(t *testing.T) {
	t.Parallel()
	const sent = "2026-11-22T14:05:00Z"
	got, err := learnObject(t, requestText+acceptedText+"=== row\nid: h-1\nsent: "+sent+"\n\n"+`{"rows": [{"messageId": "h-1", "sentAt": "`+sent+`"}]}`)
	require.NoError(t, err)
	assert.Equal(t, []any{"sentAt"}, at(got, "sms.list", "record", "sent"))
	assert.Nil(t, at(got, "sms.list", "layouts//"), "a time is read")
	assert.Contains(t, at(got, "sms.list", "record", "created//"), "the time at which the service took a message is not read")
}

// TestLearnNamesWhatItDoesNotUse: paging and order are among the names of the example, which its values must not join.
func TestLearnNamesWhatItDoesNotUse(t *testing.T) {
	t.Parallel()
	got, err := learnObject(t, requestText+acceptedText+"=== row\nid: h-1\nreference: otp-1\n\n"+
		"curl 'https://api.example.com/v3/messages?client_ref=otp-1&page_no=7391&per_page=8264&api_key=hunter2'\n"+
		`{"rows": [{"messageId": "h-1", "clientRef": "otp-1", "note": "private"}, {"messageId": "h-2", "note": "secret"}], "nextPage": "opaque"}`)
	require.NoError(t, err)
	note, _ := at(got, "sms.list", "params//").(string)
	assert.Contains(t, note, "; the request also has page_no, per_page; the response also has nextPage")
	assert.Equal(t, "the example also has note", at(got, "sms.list", "record//"))
	for _, private := range []string{"7391", "8264", "hunter2", "api_key", "private", "secret", "opaque", "client_ref", "clientRef"} {
		assert.NotContains(t, note, private)
	}
}

// rowAt is a row alone with a time.
func rowAt(created, more string) string {
	return "=== row\nid: h-1\ncreated: " + created + "\n" + more + "\n" + `{"rows": [{"messageId": "h-1", "at": "` + created + `"}]}` + "\n"
}

// TestLearnLayout has times that a contract reads only by a layout.
func TestLearnLayout(t *testing.T) {
	t.Parallel()
	for created, want := range map[string]string{
		"27.11.2026 08:05":          "02.01.2006 15:04",
		"27/11/2026 08:05:09":       "02/01/2006 15:04:05",
		"11/27/2026 8:05 PM":        "01/02/2006 3:04 PM",
		"2026/11/27 08:05":          "2006/01/02 15:04",
		"Nov 27, 2026 8:05:09 AM":   "Jan 2, 2006 3:04:05 PM",
		"27-Nov-2026 08:05":         "02-Jan-2006 15:04",
		"27.11.2026 08:05:09 +0100": "02.01.2006 15:04:05 -0700",
		"11.11.2026 08:05":          "02.01.2006 15:04",
	} {
		got, err := learnObject(t, rowAt(created, ""))
		require.NoError(t, err, created)
		assert.Equal(t, []any{want}, at(got, "sms.list", "layouts"), created)
	}
	got, err := learnObject(t, rowAt("03.04.2026 08:05", "layout: 02.01.2006 15:04\n"))
	require.NoError(t, err)
	assert.Equal(t, []any{"02.01.2006 15:04"}, at(got, "sms.list", "layouts"))
}

// TestLearnRefusesUnclearLayout has a time that may be of two days, one in no usual layout, and a layout that does not fit.
func TestLearnRefusesUnclearLayout(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		rowAt("03.04.2026 08:05", ""):                               "such as 02.01.2006 15:04 or 01.02.2006 15:04",
		rowAt("5th of May", ""):                                     "add the line layout:",
		rowAt("27.11.2026 08:05", "layout: 01/02/2006 15:04\n"):     "does not read the time",
		rowAt("2026-11-27T08:05:00Z", "layout: 01/02/2006 15:04\n"): "does not read the time",
	} {
		_, err := learnObject(t, text)
		require.ErrorContains(t, err, want)
	}
}
