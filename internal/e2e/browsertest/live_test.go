package browsertest

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

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
	waitForText(t, tab, "#log", "after")
	eventually(t, tab, `document.querySelector("#offline").hidden && !document.querySelector("#reply").disabled`)
	typeInto(t, tab, "#reply", "still here")
	submit(t, tab, "form.type")
	waitForText(t, tab, "#log", "still here")
	assert.True(t, eval[bool](t, tab, `window.stays === true`))
}

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
		waitForCount(t, next, ".thread", 2)
		require.Equal(t, "visible", eval[string](t, next, `document.visibilityState`))
		tabs = append(tabs, next)
	}
	loaded := time.Now()
	for _, each := range tabs {
		openThread(t, each, "to Ana")
		waitForText(t, each, "#log", "to Ana")
	}
	clicked := time.Now()
	b.text(t, ana, "to all tabs")
	for _, each := range tabs {
		waitForText(t, each, "#log", "to all tabs")
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
		do(t, next, fmt.Sprintf(`
			Object.defineProperty(document, "hidden", { value: %t, configurable: true });
			document.dispatchEvent(new Event("visibilitychange"))`, on))
	}
	hide(true)
	eventually(t, next, `window.streams === 0`)
	b.text(t, ana, "while hidden")
	hide(false)
	eventually(t, next, `window.streams === 1`)
	waitForText(t, next, "#log", "while hidden")
	b.text(t, ana, "in view")
	waitForText(t, next, "#log", "in view")
}

// testLoad sends 100 messages a second with the page open.
func testLoad(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	client := b.client(t, messaging.WithTimeout(20*time.Second))
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	do(t, tab, `
		window.longest = 0;
		let last = performance.now();
		setInterval(() => {
			const now = performance.now();
			window.longest = Math.max(window.longest, now - last);
			last = now;
		}, 50)`)
	const eachSecond, recipients = 100, 40
	ticker := time.NewTicker(time.Second / eachSecond)
	defer ticker.Stop()
	var failed atomic.Int32
	var sending sync.WaitGroup
	count := int(load.Seconds() * eachSecond)
	for i := range count {
		<-ticker.C
		if i == count-1 {
			sending.Wait() // so that the last is the newest of its conversation
		}
		sending.Go(func() {
			m := sms.Message{From: "ACME", To: fmt.Sprintf("+6391800000%02d", i%recipients), Text: fmt.Sprint("Message ", i), ReferenceID: fmt.Sprint("load-", i)}
			if _, err := client.SMS.Send(t.Context(), m); err != nil {
				failed.Add(1)
			}
		})
		if i == count/2 { // the page is used meanwhile
			waitFor(t, tab, ".thread")
			click(t, tab, ".thread")
			waitFor(t, tab, "#log .entry")
		}
	}
	sending.Wait()
	assert.Zero(t, failed.Load())
	var found struct {
		Messages []struct{ ReferenceID string }
		Dropped  int
	}
	seen := map[string]bool{}
	for i := range recipients {
		b.get(t, fmt.Sprintf("messages?limit=1000&to=6391800000%02d", i), &found)
		for _, m := range found.Messages {
			seen[m.ReferenceID] = true
		}
	}
	assert.Len(t, seen, min(count, 10_000), "no row is lost")
	last := fmt.Sprint("Message ", count-1)
	eventually(t, tab, fmt.Sprintf(`[...document.querySelectorAll(".thread")].some(e => e.innerText.includes(%q))`, last))
	assert.Equal(t, recipients, eval[int](t, tab, `document.querySelectorAll(".thread").length`))
	longest := eval[float64](t, tab, `window.longest`)
	heap := eval[float64](t, tab, `performance.memory.usedJSHeapSize`)
	resident := residentMiB(t, b.process.Process.Pid)
	t.Logf("%d messages: the page was busy for %.0f ms at most, its heap is %.0f MiB; the sandbox has %d MiB", count, longest, heap/(1<<20), resident)
	assert.Less(t, longest, 5000.0, "the page stays responsive")
	assert.Less(t, heap, 300.0*(1<<20))
	assert.Less(t, resident, 700)
}

// residentMiB returns the memory of a process, or 0 where the system does not say.
func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, resident int
	_, err = fmt.Sscan(string(text), &size, &resident)
	require.NoError(t, err)
	return resident * os.Getpagesize() >> 20
}
