package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

const ben = "+639180001111"

// text sends an SMS.
func (b *box) text(t *testing.T, to, text string) string {
	t.Helper()
	receipt, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: to, Text: text})
	require.NoError(t, err)
	return receipt.ID
}

// typed types into a field of the page, as its script sees it.
func typed(t *testing.T, tab browser, selector, text string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`const f = document.querySelector(%q); f.focus(); f.value = %q; f.dispatchEvent(new Event("input", { bubbles: true }))`, selector, text))
}

// testFirstMinute follows somebody who has just started the sandbox.
func testFirstMinute(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/")
	eventually(t, tab, `document.body.innerText.includes("Waiting for your first message…")`)
	assert.Equal(t, []string{"curl", "Go", "Python", "Node", ".env"}, eval[[]string](t, tab, `[...document.querySelectorAll("[role=tab]")].map(e => e.innerText)`))
	for _, name := range []string{"curl", "go", "python", "node", "env"} {
		do(t, tab, `document.querySelector("#tab-`+name+`").click()`)
		shown := eval[string](t, tab, `document.querySelector("[role=tabpanel]:not([hidden])").innerText`)
		assert.Contains(t, shown, b.Token, name)
		assert.Contains(t, shown, b.Base, name)
		assert.Equal(t, 1, eval[int](t, tab, `[...document.querySelectorAll("[role=tabpanel]:not([hidden]) [data-copy]")].length`), name)
	}
	do(t, tab, `document.querySelector("#tab-env").focus()`)
	run(t, tab, chromedp.KeyEvent(kb.ArrowRight))
	eventually(t, tab, `document.activeElement.id === "tab-curl" && !document.querySelector("#way-curl").hidden`)
	do(t, tab, `[...document.querySelectorAll(".samples button")].find(e => e.innerText === "Carousel").click()`)
	eventually(t, tab, `document.querySelectorAll(".cardlet").length === 2`)
	eventually(t, tab, `document.title.startsWith("+639")`)
}

// testDrafts opens another conversation while an answer is being written, and sends one answer with three times Enter.
func testDrafts(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "to Ana")
	b.text(t, ben, "to Ben")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	typed(t, tab, "#reply", "for Ana alone")
	do(t, tab, `[...document.querySelectorAll(".thread")].find(e => e.innerText.includes("to Ben")).click()`)
	eventually(t, tab, `document.querySelector("#log").innerText.includes("to Ben")`)
	assert.Empty(t, eval[string](t, tab, `document.querySelector("#reply").value`))
	typed(t, tab, "#reply", "for Ben")
	do(t, tab, `[...document.querySelectorAll(".thread")].find(e => e.innerText.includes("to Ana")).click()`)
	eventually(t, tab, `document.querySelector("#reply").value === "for Ana alone"`)
	b.text(t, ana, "another")
	eventually(t, tab, `document.querySelector("#log").innerText.includes("another")`)
	assert.Equal(t, "for Ana alone", eval[string](t, tab, `document.querySelector("#reply").value`), "an event leaves it")

	do(t, tab, `const slow = window.fetch; window.fetch = (u, o) => String(u).endsWith("replies") ? new Promise(r => setTimeout(r, 700)).then(() => slow(u, o)) : slow(u, o);
		document.querySelector("#reply").focus()`)
	run(t, tab, chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	eventually(t, tab, `document.querySelector(".entry.out")`)
	time.Sleep(time.Second)
	assert.Equal(t, []string{"for Ana alone"}, eval[[]string](t, tab, `[...document.querySelectorAll(".entry.out .text")].map(e => e.innerText)`))
	do(t, tab, `window.fetch = () => Promise.reject(new TypeError("offline"))`)
	typed(t, tab, "#reply", "not lost")
	do(t, tab, `document.querySelector("form.type").requestSubmit()`)
	eventually(t, tab, `document.querySelector("#reply").value === "not lost"`)
}

// testRestart starts the server again, with another token of the page, while the page is open.
func testRestart(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command, "-token", "my-token")
	b.text(t, ana, "before")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	do(t, tab, `window.stays = true`)
	require.NoError(t, b.process.Process.Kill())
	_ = b.process.Wait()
	eventually(t, tab, `!document.querySelector("#offline").hidden && document.querySelector("#offline").innerText.includes("Reconnecting…")`)
	eventually(t, tab, `document.querySelector("#reply").disabled && document.querySelector(".send").disabled`)
	startSandbox(t, command, "-listen", strings.TrimPrefix(b.Base, "http://"), "-token", "my-token")
	b.text(t, ana, "after")
	eventually(t, tab, `document.querySelector("#log")?.innerText.includes("after")`)
	eventually(t, tab, `document.querySelector("#offline").hidden && !document.querySelector("#reply").disabled`)
	typed(t, tab, "#reply", "still here")
	do(t, tab, `document.querySelector("form.type").requestSubmit()`)
	eventually(t, tab, `document.querySelector("#log").innerText.includes("still here")`)
	assert.True(t, eval[bool](t, tab, `window.stays === true`))
}

// testReading opens a message far back, and reads while others come.
func testReading(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	var middle string
	for i := range 230 {
		if id := b.text(t, ana, fmt.Sprint("Message ", i)); i == 40 {
			middle = id
		}
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message="+middle)
	inView := func(text string) string {
		return fmt.Sprintf(`(() => { const e = [...document.querySelectorAll(".entry")].find(e => e.querySelector(".text").innerText === %q), l = document.querySelector("#log").getBoundingClientRect(), r = e.getBoundingClientRect(); return r.top >= l.top - 1 && r.bottom <= l.bottom + 1 })()`, text)
	}
	eventually(t, tab, inView("Message 40"))
	do(t, tab, `document.querySelector("#earlier a")?.click()`)
	eventually(t, tab, `document.querySelector("#log").innerText.includes("Message 0")`)
	b.open(t, tab, "/_sandbox/?message="+middle)
	eventually(t, tab, inView("Message 40"))
	eventually(t, tab, `document.querySelector("#later") && document.querySelectorAll(".entry").length === 100`)
	do(t, tab, `document.querySelector("#later a").click()`)
	eventually(t, tab, inView("Message 99"))
	do(t, tab, `document.querySelector("#later a:last-child").click()`)
	eventually(t, tab, inView("Message 229"))
	do(t, tab, `document.querySelector("#log").scrollTop = 1000`)
	read := eval[string](t, tab, `(() => { const top = document.querySelector("#log").getBoundingClientRect().top; return [...document.querySelectorAll(".entry .text")].find(e => e.getBoundingClientRect().top > top + 100).innerText })()`)
	place := fmt.Sprintf(`[...document.querySelectorAll(".entry .text")].find(e => e.innerText === %q).getBoundingClientRect().top`, read)
	before := eval[float64](t, tab, place)
	b.text(t, ana, "while you read")
	eventually(t, tab, `document.querySelector("#pill").innerText === "1 new" && document.querySelector("#pill").checkVisibility()`)
	assert.InDelta(t, before, eval[float64](t, tab, place), 2, "the reader is not moved")
	do(t, tab, `document.querySelector("#pill").click()`)
	eventually(t, tab, inView("while you read"))
	eventually(t, tab, `document.querySelector("#pill").hidden`)
}

// testSearch looks for a number and words, and empties the search.
func testSearch(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Your parcel arrives today")
	b.text(t, ana, "Thank you")
	b.text(t, ben, "Nothing")
	b.text(t, "+639195550142", "مرحبا بكم في متجرنا الجديد، يسعدنا أن نخدمكم كل يوم من الصباح حتى المساء")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 3`)
	typed(t, tab, "#q", "today PARCEL")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 1`)
	do(t, tab, `document.querySelector(".thread").click()`)
	eventually(t, tab, `document.querySelector(".entry.current").innerText.includes("parcel")`)
	do(t, tab, `document.querySelector("#q").focus()`)
	run(t, tab, chromedp.KeyEvent(kb.Escape))
	eventually(t, tab, `document.querySelector("#q").value === "" && document.querySelectorAll(".thread").length === 3 && !location.search.includes("q=")`)
	b.open(t, tab, "/_sandbox/?only=chatapp1")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 0`)
	do(t, tab, `document.querySelector("#q").focus()`)
	run(t, tab, chromedp.KeyEvent(kb.Escape))
	eventually(t, tab, `document.querySelectorAll(".thread").length === 3 && !location.search.includes("only=")`)
	typed(t, tab, "#q", "917 123")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 1`)
	typed(t, tab, "#q", "")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 3`)
	// The beginning of an Arabic preview is at its right.
	assert.True(t, eval[bool](t, tab, `(() => { const e = [...document.querySelectorAll(".last")].find(e => e.innerText.includes("مرحبا")); const range = document.createRange();
		const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT); walker.nextNode(); range.setStart(walker.currentNode, 0); range.setEnd(walker.currentNode, 5);
		const word = range.getBoundingClientRect(), box = e.getBoundingClientRect(); return word.right <= box.right + 1 && word.left >= box.left - 1 })()`))
}

// testWebhookField saves an empty field, which asks first.
func testWebhookField(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command, "-webhook-sms", "http://127.0.0.1:1/hooks?key=top-secret")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/page/connect")
	eventually(t, tab, `document.querySelector("[data-webhook=sms] input").value === "http://127.0.0.1:1/hooks?key=••••"`)
	do(t, tab, `window.asked = 0; window.confirm = () => { window.asked++; return false }; const f = document.querySelector("[data-webhook=sms]"); f.elements.url.value = ""; f.requestSubmit()`)
	eventually(t, tab, `window.asked === 1 && document.querySelector("[data-webhook=sms] input").value.includes("••••")`)
	var now struct{ Webhooks map[string]string }
	b.get(t, "settings", &now)
	assert.Contains(t, now.Webhooks["sms"], "127.0.0.1:1")
	do(t, tab, `window.confirm = () => true; [...document.querySelectorAll("[data-webhook=sms] button")].find(e => e.innerText === "Remove").click()`)
	eventually(t, tab, `document.querySelector("[data-webhook=sms] input").value === "" && document.querySelectorAll("[data-webhook=sms] button").length === 1`)
}

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
	do(t, tab, `document.querySelector(".media.image .load").click()`)
	eventually(t, tab, `document.querySelector(".media.image").innerText.includes("cannot be shown")`)
	do(t, tab, `[...document.querySelectorAll(".media.image button")].find(e => e.innerText === "Try again").click()`)
	eventually(t, tab, `document.querySelector(".media.image img").naturalWidth === 80`)
	do(t, tab, `document.querySelector(".place").click()`) // the bubble opens its details
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
	typed(t, tab, "#reply", "Thank you")
	do(t, tab, `document.querySelector("form.type").requestSubmit()`)
	eventually(t, tab, `document.querySelector(".entry.out .actions")`)
	assert.Eventually(t, func() bool { return calls.Load() == 1 }, 30*time.Second, 20*time.Millisecond)
	background := func(of string) string {
		return eval[string](t, tab, `getComputedStyle(document.querySelector("`+of+` .bubble")).backgroundColor`)
	}
	assert.NotEqual(t, background(".entry.in"), background(".entry.out"))

	b.open(t, tab, "/_sandbox/page/faults")
	do(t, tab, `document.querySelector("#fault-accept-then-drop button").click()`)
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("accept-then-drop")`)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "Dropped"})
	require.Error(t, err)
	b.open(t, tab, conversation("sms", ben))
	eventually(t, tab, `[...document.querySelectorAll(".entry .stamp .warn")].map(e => e.innerText).join() === "accept-then-drop"`)

	b.open(t, tab, "/_sandbox/page/traffic?only=callback")
	do(t, tab, `document.querySelector("li[id^=x-] a").click()`)
	eventually(t, tab, `[...document.querySelectorAll("#exchange button")].some(e => e.innerText === "Send again")`)
	do(t, tab, `[...document.querySelectorAll("#exchange button")].find(e => e.innerText === "Send again").click()`)
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
	eventually(t, tab, `document.querySelector(".entry .hook")?.innerText.includes("200")`)
	do(t, tab, `document.querySelector(".bubble").click()`)
	eventually(t, tab, `document.querySelector(".call .url summary")?.innerText.includes("/delivery?s=")`)
	shown := `(e => e.checkVisibility() && e.innerText.includes("&last="))(document.querySelector(".call .url > bdi"))`
	assert.False(t, eval[bool](t, tab, shown))
	do(t, tab, `document.querySelector(".call .url summary").click()`)
	eventually(t, tab, shown)
	cut := `(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)(document.querySelector(".call .url"))`
	assert.False(t, eval[bool](t, tab, cut), "the whole URL is in view")
}

// testTouch looks at sizes on a phone, at 400 % zoom, and on paper.
func testTouch(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	for i := range 30 {
		b.text(t, ana, fmt.Sprint("Message ", i))
	}
	view(t, tab, 390, 844, "light")
	touch := func(on bool) {
		_, err := chromedp.Call(tab, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: on})
		require.NoError(t, err)
	}
	touch(true)
	b.open(t, tab, conversation("sms", ana))
	eventually(t, tab, `matchMedia("(pointer: coarse)").matches`)
	small := `[...document.querySelectorAll("button, summary, .tabs a, .back, input:not([type=hidden]), textarea")].filter(e => e.checkVisibility() && e.getBoundingClientRect().height > 0 && e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML.slice(0, 120))`
	assert.Empty(t, eval[[]string](t, tab, small))
	assert.Equal(t, "16px", eval[string](t, tab, `getComputedStyle(document.querySelector("#reply")).fontSize`))
	touch(false)

	view(t, tab, 360, 225, "light") // 1440 by 900 at 400 %
	b.open(t, tab, conversation("sms", ana))
	eventually(t, tab, `document.scrollingElement.scrollHeight > innerHeight + 500`)
	do(t, tab, `scrollTo(0, 400)`)
	assert.Greater(t, eval[float64](t, tab, `scrollY`), 100.0)
	assert.LessOrEqual(t, eval[int](t, tab, `document.documentElement.scrollWidth`), 360)

	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.NoError(t, err)
	eventually(t, tab, `document.querySelector("#log").scrollHeight <= document.querySelector("#log").clientHeight + 1 && document.documentElement.scrollHeight > 1500`)
	assert.Empty(t, eval[string](t, tab, `[...document.querySelectorAll(".bar, .list, .details, .composer")].filter(e => e.checkVisibility()).map(e => e.className).join()`))
	_, err = chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: ""})
	require.NoError(t, err)
}

// testTrafficPage goes from a message to its exchange and back, and copies the command with the secret.
func testTrafficPage(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	id := b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message="+id)
	do(t, tab, `[...document.querySelectorAll("#details a")].find(e => e.innerText.startsWith("req-")).click()`)
	eventually(t, tab, `document.querySelector("#exchange").innerText.includes("Copy with secret")`)
	eventually(t, tab, `document.querySelector("#exchange").innerText.includes('"text":"Hello"')`)
	do(t, tab, `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } }, configurable: true })`)
	do(t, tab, `document.querySelector("[data-copy]").click()`)
	eventually(t, tab, `window.copied.includes("$MESSAGING_TOKEN")`)
	do(t, tab, `document.querySelector("[data-secret]").click()`)
	eventually(t, tab, fmt.Sprintf(`window.copied.includes(%q)`, b.Token))
	do(t, tab, `[...document.querySelectorAll("#exchange a")].find(e => e.innerText === "See the message").click()`)
	eventually(t, tab, `document.querySelector(".entry.current").innerText.includes("Hello")`)

	do(t, tab, `document.querySelector('a[href$="page/faults"]').click()`)
	eventually(t, tab, `document.querySelector("#scope")`)
	do(t, tab, `const f = document.querySelector("#scope"); f.elements.to.value = "`+ben+`"; f.elements.amount.value = "duration"; f.elements.duration.value = "1h"; f.elements.skip.value = "1"; document.querySelector("#fault-status [name=status]").value = "500"; document.querySelector("#fault-status button").click()`)
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("`+ben+`") && document.querySelector("#rules").innerText.includes("status 500")`)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "It passes"})
	require.NoError(t, err)
	_, err = b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "Hi"})
	require.Error(t, err)
	b.text(t, ana, "not for you")
	do(t, tab, `document.querySelector("#rules .mini").click()`)
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("No faults")`)
}
