package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// testMedia shows a medium that cannot be shown at first.
func testMedia(t *testing.T, tab browser, command string) {
	t.Helper()
	var calls atomic.Int32
	media := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"/>`))
	}))
	defer media.Close()
	b := startSandbox(t, command)
	for _, content := range []chatapp2.Content{
		chatapp2.Image{Media: chatapp2.MediaLink(media.URL + "/a.svg")},
		chatapp2.Location{Latitude: 14.5995, Longitude: 120.9842, Name: "The shop"},
		chatapp2.Audio{Media: chatapp2.MediaLink(media.URL + "/a.ogg")},
	} {
		_, err := b.client(t).ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: content})
		require.NoError(t, err)
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("chatapp2", ana))
	eventually(t, tab, `document.querySelector(".place .map") && document.querySelector(".place").innerText.includes("The shop") && document.querySelector(".media.audio .wave")`)
	click(t, tab, ".media.image .load")
	waitForText(t, tab, ".media.image", "cannot be shown")
	clickText(t, tab, ".media.image button", "Try again")
	eventually(t, tab, `document.querySelector(".media.image img").naturalWidth === 80`)
	click(t, tab, ".place") // the bubble opens its details
	eventually(t, tab, `document.querySelector(".entry.current .place") && document.querySelector(".timeline").innerText.includes("accepted")`)
}

// testSigns checks the signs of a message in its conversation: its direction and its fault. A callback is sent again from its exchange.
func testSigns(t *testing.T, tab browser, command string) {
	t.Helper()
	var calls atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer hook.Close()
	b := startSandbox(t, command, "-webhook-sms", hook.URL+"/hooks")
	view(t, tab, 1440, 900, "light")
	b.text(t, ana, "Hello")
	b.open(t, tab, conversation("sms", ana))
	typeInto(t, tab, "#reply", "Thank you")
	submit(t, tab, "form.type")
	waitFor(t, tab, ".entry.out .actions")
	assert.Eventually(t, func() bool { return calls.Load() == 1 }, 30*time.Second, 20*time.Millisecond)
	background := func(of string) string {
		return eval[string](t, tab, `getComputedStyle(document.querySelector("`+of+` .bubble")).backgroundColor`)
	}
	assert.NotEqual(t, background(".entry.in"), background(".entry.out"))

	b.open(t, tab, "/_sandbox/page/faults")
	click(t, tab, "#fault-accept-then-drop button")
	waitForText(t, tab, "#rules", "accept-then-drop")
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "Dropped"})
	require.Error(t, err)
	b.open(t, tab, conversation("sms", ben))
	eventually(t, tab, `[...document.querySelectorAll(".entry .stamp .warn")].map(e => e.innerText).join() === "accept-then-drop"`)

	b.open(t, tab, "/_sandbox/page/traffic?only=callback")
	click(t, tab, "li[id^=x-] a")
	eventually(t, tab, `[...document.querySelectorAll("#exchange button")].some(e => e.innerText === "Send again")`)
	clickText(t, tab, "#exchange button", "Send again")
	assert.Eventually(t, func() bool { return calls.Load() == 2 }, 30*time.Second, 20*time.Millisecond)
}

// testLongURL shows the beginning of a long callback URL in the timeline, and the whole of it on a click.
func testLongURL(t *testing.T, tab browser, command string) {
	t.Helper()
	program := startBot(t)
	b := startSandbox(t, command)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{
		From: "ACME", To: ana, Text: "Hi", CallbackURL: program.URL + "/delivery?s=%s" + strings.Repeat("&part=of-it", 150) + "&last=here",
	})
	require.NoError(t, err)
	view(t, tab, 390, 844, "light")
	b.open(t, tab, conversation("sms", ana))
	waitForText(t, tab, ".entry .hook", "200")
	click(t, tab, ".bubble")
	waitForText(t, tab, ".call .url summary", "/delivery?s=")
	shown := `(e => e.checkVisibility() && e.innerText.includes("&last="))(document.querySelector(".call .url > bdi"))`
	assert.False(t, eval[bool](t, tab, shown))
	click(t, tab, ".call .url summary")
	eventually(t, tab, shown)
	cut := `(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)(document.querySelector(".call .url"))`
	assert.False(t, eval[bool](t, tab, cut), "the whole URL is in view")
}

// testHostileTexts shows messages that try to run code, to load from elsewhere, or to change how the page reads.
func testHostileTexts(t *testing.T, tab browser, command string) {
	t.Helper()
	program := startBot(t)
	b := startSandbox(t, command)
	client := b.client(t)
	for _, text := range []string{
		`<script>window.pwned = 1</script>`, `<img src="` + program.URL + `/table.svg" onerror="window.pwned = 1">`, "\u202e\u2066 reversed",
		`"><svg onload="window.pwned = 1">`, strings.Repeat("long ", 20_000), program.URL + "/table.svg",
	} {
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "<b>ACME</b>", To: ana, Text: text})
		require.NoError(t, err)
	}
	_, err := client.ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Image{Media: chatapp2.MediaLink(program.URL + "/table.svg"), Caption: "<script>"}})
	require.NoError(t, err)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	waitForCount(t, tab, ".entry", 6)
	assert.Empty(t, eval[string](t, tab, `window.pwned ? "code ran" : ""`))
	assert.Zero(t, eval[int](t, tab, `document.querySelectorAll("#log script, #log img, #log iframe, #log svg[onload]").length`))
	assert.Contains(t, eval[string](t, tab, `document.querySelector("#log").innerText`), "U+202E")
	b.open(t, tab, conversation("chatapp2", ana))
	waitFor(t, tab, ".load")
	assert.Zero(t, program.media.Load(), "nothing was fetched")
	click(t, tab, ".load")
	eventually(t, tab, `document.querySelector(".media img").naturalWidth === 80`)
	assert.EqualValues(t, 1, program.media.Load())
	_, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Text{Body: "one more"}})
	require.NoError(t, err)
	waitForCount(t, tab, ".entry", 2)
	assert.True(t, eval[bool](t, tab, `!!document.querySelector(".media img")`), "what was shown stays")
	assert.Zero(t, eval[int](t, tab, `performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin) && !e.name.endsWith("/table.svg")).length`))
}
