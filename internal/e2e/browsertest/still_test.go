package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// testTwelveTabs has more tabs in view than a browser opens connections: a stream of events for each would leave none for pages.
func testTwelveTabs(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "to Ana")
	b.text(t, ben, "to Ben")
	began := time.Now()
	var tabs []browser
	for range 12 {
		next, cancel := chromedp.NewContext(tab)
		defer cancel()
		require.NoError(t, chromedp.Do(next))
		_, err := chromedp.Call(next, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
		require.NoError(t, err)
		view(t, next, 1440, 900, "light")
		b.open(t, next, "/_sandbox/")
		eventually(t, next, `document.querySelectorAll(".thread").length === 2`)
		require.Equal(t, "visible", eval[string](t, next, `document.visibilityState`))
		tabs = append(tabs, next)
	}
	loaded := time.Now()
	for _, each := range tabs {
		do(t, each, `[...document.querySelectorAll(".thread")].find(e => e.innerText.includes("to Ana")).click()`)
		eventually(t, each, `document.querySelector("#log").innerText.includes("to Ana")`)
	}
	clicked := time.Now()
	b.text(t, ana, "to all tabs")
	for _, each := range tabs {
		eventually(t, each, `document.querySelector("#log").innerText.includes("to all tabs")`)
	}
	t.Logf("12 tabs load in %v, respond to 12 clicks in %v, and all show a message after %v",
		loaded.Sub(began).Round(time.Millisecond), clicked.Sub(loaded).Round(time.Millisecond), time.Since(clicked).Round(time.Millisecond))
}

// testNoSharedWorkers has a browser in which tabs cannot share a stream of events: a tab that is hidden closes its own.
func testNoSharedWorkers(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "first")
	next, cancel := chromedp.NewContext(tab)
	defer cancel()
	require.NoError(t, chromedp.Do(next))
	_, err := chromedp.Call(next, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		delete window.SharedWorker;
		window.streams = 0;
		const Stream = window.EventSource;
		window.EventSource = class extends Stream {
			constructor(url) { super(url); window.streams++; }
			close() { super.close(); window.streams--; }
		};`})
	require.NoError(t, err)
	view(t, next, 1440, 900, "light")
	b.open(t, next, "/_sandbox/")
	eventually(t, next, `window.streams === 1`)
	hide := func(on bool) {
		do(t, next, fmt.Sprintf(`Object.defineProperty(document, "hidden", { value: %t, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`, on))
	}
	hide(true)
	eventually(t, next, `window.streams === 0`)
	b.text(t, ana, "while hidden")
	hide(false)
	eventually(t, next, `window.streams === 1`)
	eventually(t, next, `document.querySelector("#log").innerText.includes("while hidden")`)
	b.text(t, ana, "in view")
	eventually(t, next, `document.querySelector("#log").innerText.includes("in view")`)
}

// testReader reads an old line while 500 messages come.
func testReader(t *testing.T, tab browser, command string) {
	t.Helper()
	const come, each = 30, 20 * time.Millisecond
	b := startSandbox(t, command)
	for i := range 150 {
		b.text(t, ana, fmt.Sprint("Message ", i))
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	eventually(t, tab, `document.querySelectorAll(".entry").length === 100`)
	do(t, tab, `document.querySelector("#log").scrollTop = document.querySelector("#log").scrollHeight - 2500`)
	do(t, tab, `const top = document.querySelector("#log").getBoundingClientRect().top;
		window.line = [...document.querySelectorAll(".entry")].find(e => e.getBoundingClientRect().top > top + 100);
		window.moved = 0; const before = window.line.getBoundingClientRect().top;
		const look = () => { window.moved = Math.max(window.moved, Math.abs(window.line.getBoundingClientRect().top - before)); window.looking = requestAnimationFrame(look) }; look()`)
	ticker := time.NewTicker(each)
	defer ticker.Stop()
	client := b.client(t)
	for i := range come {
		<-ticker.C
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: fmt.Sprint("New ", i)})
		require.NoError(t, err)
	}
	eventually(t, tab, fmt.Sprintf(`document.querySelector("#pill").innerText === "%d new" && document.querySelector("#pill").checkVisibility()`, come))
	assert.True(t, eval[bool](t, tab, `window.line.isConnected`), "the line is not replaced")
	assert.LessOrEqual(t, eval[float64](t, tab, `window.moved`), 4.0, "nor does it move")
	do(t, tab, `cancelAnimationFrame(window.looking); document.querySelector("#pill").click()`)
	eventually(t, tab, fmt.Sprintf(`[...document.querySelectorAll(".entry .text")].at(-1).innerText === "New %d"`, come-1))
	eventually(t, tab, `document.querySelector("#pill").hidden`)
	eventually(t, tab, `(l => l.scrollHeight - l.scrollTop - l.clientHeight < 80)(document.querySelector("#log"))`)
}

// testTap taps a button, and one of a page that is older than its message.
func testTap(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	receipt, err := b.client(t).ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Interactive{
		Body: "When shall we come?", Action: chatapp2.ReplyButtons{{ID: "am", Title: "Morning"}, {ID: "pm", Title: "Afternoon"}},
	}})
	require.NoError(t, err)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("chatapp2", ana))
	do(t, tab, `document.querySelectorAll(".tap")[1].click()`)
	eventually(t, tab, `document.querySelector(".entry.out").innerText.includes("Afternoon")`)
	do(t, tab, `const tap = document.querySelectorAll(".tap")[0]; tap.dataset.json = tap.dataset.json.replace('"am"', '"noon"'); tap.click()`)
	eventually(t, tab, `document.querySelector(".toast.bad").innerText.includes('it has button with payload "am"')`)
	do(t, tab, fmt.Sprintf(`const tap = document.querySelectorAll(".tap")[1]; tap.dataset.json = tap.dataset.json.replace(%q, "wamid.none"); tap.click()`, receipt.ID))
	eventually(t, tab, `document.querySelector(".toast.bad").innerText.includes("no message has the ID wamid.none")`)
	assert.Equal(t, 1, eval[int](t, tab, `document.querySelectorAll(".entry.out").length`))
}

// testOnlyConversation opens the only conversation next to the list, if there is room for both.
func testOnlyConversation(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	eventually(t, tab, `document.querySelector("#log").innerText.includes("Hello") && document.querySelector(".thread").checkVisibility()`)

	view(t, tab, 390, 844, "light")
	eventually(t, tab, `document.querySelector(".thread").checkVisibility() && !document.querySelector("#log").checkVisibility()`)
	do(t, tab, `document.querySelector(".thread").click()`)
	eventually(t, tab, `document.querySelector("#log").checkVisibility() && !document.querySelector(".thread").checkVisibility()`)
	do(t, tab, `document.querySelector(".phone .back").click()`)
	eventually(t, tab, `document.querySelector(".thread").checkVisibility() && !document.querySelector("#log").checkVisibility()`)
}

// testGone opens links to what there is not.
func testGone(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message=msg-99")
	eventually(t, tab, `document.querySelector(".stage").innerText.includes("This message is gone")`)
	for _, path := range []string{"/nothing", "/_sandbox/page/nothing"} {
		b.open(t, tab, path)
		eventually(t, tab, `document.querySelector("main").innerText.includes("Not found")`)
		do(t, tab, `document.querySelector("main a").click()`)
		eventually(t, tab, `document.querySelector(".thread").innerText.includes("Hello")`)
	}
	var traffic struct{ Exchanges []struct{ URL string } }
	b.get(t, "traffic", &traffic)
	assert.Len(t, traffic.Exchanges, 1, "neither the page nor its favicon is traffic: %v", traffic)
}

// testRoom checks the positions of toasts, filters and actions.
func testRoom(t *testing.T, tab browser, command string) {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer hook.Close()
	b := startSandbox(t, command, "-webhook-sms", hook.URL)
	for i := range 20 {
		b.text(t, ana, fmt.Sprint("Message ", i))
	}
	b.text(t, ben, "Hello")
	// It looks as soon as there is a toast, which goes after a few seconds.
	look := `window.covered = (() => { const t = document.querySelector(".toast").getBoundingClientRect();
		const main = document.querySelector("main").getBoundingClientRect().bottom; // what is below it is scrolled out of view
		return [...document.querySelectorAll("button, a.button, .tabs a, summary")].filter(e => e.checkVisibility()).filter(e => {
			const r = e.getBoundingClientRect(), bottom = e.closest("main") ? Math.min(r.bottom, main) : r.bottom;
			return r.width && r.left < t.right && r.right > t.left && r.top < t.bottom && bottom > t.top + 1;
		}).map(e => e.outerHTML.slice(0, 100)) })()`
	for _, width := range []int64{390, 820, 1440} {
		view(t, tab, width, 844, "light")
		b.open(t, tab, "/_sandbox/")
		assert.Equal(t, 1, eval[int](t, tab, `new Set([...document.querySelectorAll(".chips a")].map(e => Math.round(e.getBoundingClientRect().top))).size`), "the filters take one row at %d", width)
		b.open(t, tab, conversation("sms", ana))
		typed(t, tab, "#reply", "Thank you")
		do(t, tab, `document.querySelector("form.type").requestSubmit()`)
		eventually(t, tab, look)
		assert.Empty(t, eval[[]string](t, tab, `window.covered`), "a toast covers no button at %d", width)
		eventually(t, tab, `(l => l.scrollHeight - l.scrollTop - l.clientHeight < 80)(document.querySelector("#log"))`)
		b.open(t, tab, "/_sandbox/page/faults")
		do(t, tab, `document.querySelector(".doc").scrollTop = 500; document.querySelector("#fault-slow input").value = "x"; document.querySelector("#fault-slow button").click()`)
		eventually(t, tab, `document.querySelector(".toast.bad") && (`+look+`)`)
		assert.Empty(t, eval[[]string](t, tab, `window.covered`), "nor on Faults, at %d", width)
	}

	b.text(t, ana, "The last") // so that the answer is not the one whose details are open
	b.open(t, tab, conversation("sms", ana))
	opacity := `getComputedStyle(document.querySelector(".entry.out .actions")).opacity`
	do(t, tab, `document.activeElement.blur(); document.querySelector(".entry.out").scrollIntoView({ block: "center" })`)
	eventually(t, tab, opacity+` === "0"`)
	at := eval[struct{ X, Y float64 }](t, tab, `(r => ({ X: r.x + r.width / 2, Y: r.y + r.height / 2 }))(document.querySelector(".entry.out .bubble").getBoundingClientRect())`)
	_, err := chromedp.Call(tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: at.X, Y: at.Y})
	require.NoError(t, err)
	eventually(t, tab, opacity+` === "1"`)
	_, err = chromedp.Call(tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: "mouseMoved", X: 1, Y: 1})
	require.NoError(t, err)
}

// testForcedColors shows selections without backgrounds, which forced colors remove.
func testForcedColors(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "to Ana")
	b.text(t, ben, "to Ben")
	view(t, tab, 1440, 900, "light")
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}},
	})
	require.NoError(t, err)
	b.open(t, tab, conversation("sms", ana))
	eventually(t, tab, `matchMedia("(forced-colors: active)").matches`)
	look := `((e) => { const s = getComputedStyle(e); return [s.outlineStyle, s.outlineWidth, s.borderWidth, s.textDecorationLine, s.fontWeight].join() })`
	for _, pair := range [][2]string{
		{`.thread[aria-current]`, `.thread:not([aria-current])`},
		{`.chips a[aria-current]`, `.chips a:not([aria-current])`},
		{`.tabs a[aria-current]`, `.tabs a:not([aria-current])`},
		{`.choices button[aria-pressed=true]`, `.choices button[aria-pressed=false]`},
	} {
		assert.NotEqual(t, eval[string](t, tab, look+fmt.Sprintf(`(document.querySelector(%q))`, pair[0])),
			eval[string](t, tab, look+fmt.Sprintf(`(document.querySelector(%q))`, pair[1])), pair[0])
	}
	view(t, tab, 1440, 900, "light")
}

// testFaultHit goes from the page of faults to what one did.
func testFaultHit(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	client := b.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/page/faults")
	do(t, tab, `document.querySelector("#fault-accept-then-drop button").click()`)
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("accept-then-drop")`)
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "order-17"})
	require.Error(t, err)
	eventually(t, tab, `document.querySelector("#last-hit a")`)
	do(t, tab, `document.querySelector("#last-hit a").click()`)
	eventually(t, tab, `document.querySelector("#exchange .marks").innerText.includes("in the ledger")`)
}

// TestEndToEndInNode runs a test in Node over the JSON API.
func TestEndToEndInNode(t *testing.T) {
	hook := startBot(t)
	b := startSandbox(t, buildCommand(t), hook.args()...)
	node, err := exec.LookPath("node")
	require.NoError(t, err, "Node runs the test over the API")
	run := exec.CommandContext(t.Context(), node, "--test", "e2e.mjs")
	run.Env = append(run.Environ(), "MESSAGING_BASE_URL="+b.Base, "MESSAGING_TOKEN="+b.Token)
	out, err := run.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "# pass 6")
	hook.mu.Lock()
	defer hook.mu.Unlock()
	assert.Len(t, hook.received, 1, "the tap arrived once")
}
