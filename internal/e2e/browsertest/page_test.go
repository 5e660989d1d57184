package browsertest

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

const ana = "+639171234567"

//go:embed audit.js
var audit string

var (
	load  = flag.Duration("load", 2*time.Second, "how long to send 100 messages a second with the page open")
	axe   = flag.String("axe", "node_modules/axe-core/axe.min.js", "the file of axe-core, which npm ci installs; none if empty")
	whole = flag.Bool("whole", false, "every width in both color schemes")
)

// bot is a program that receives answers.
type bot struct {
	*httptest.Server

	mu       sync.Mutex
	received []webhook.Content
	reports  []string
	media    atomic.Int32
}

func startBot(t *testing.T) *bot {
	t.Helper()
	b := &bot{}
	hooks, err := webhook.NewReceiver(webhook.WithSecret("key", "a-long-enough-secret"), webhook.WithStore(webhook.NewMemoryStore(1000, time.Hour)))
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/chatapp2", hooks.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.received = append(b.received, m.Content)
		return nil
	}))
	mux.HandleFunc("/delivery", func(_ http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.reports = append(b.reports, r.URL.Query().Get("s"))
	})
	mux.HandleFunc("/table.svg", func(w http.ResponseWriter, _ *http.Request) {
		b.media.Add(1)
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><rect width="80" height="60" fill="teal"/></svg>`))
	})
	b.Server = httptest.NewServer(mux)
	t.Cleanup(b.Close)
	return b
}

func (b *bot) args() []string {
	return []string{"-webhook-chatapp2", b.URL + "/chatapp2?key=a-long-enough-secret"}
}

// conversation returns the path of a conversation.
func conversation(channel, to string) string {
	return "/_sandbox/?" + url.Values{"channel": {channel}, "to": {to}}.Encode()
}

// TestPage starts one browser for all tests of the page.
func TestPage(t *testing.T) {
	tab, command := startBrowser(t), buildCommand(t)
	t.Run("the whole way", func(t *testing.T) { testTheWholeWay(t, tab, command) })
	t.Run("the first minute", func(t *testing.T) { testFirstMinute(t, tab, command) })
	t.Run("drafts", func(t *testing.T) { testDrafts(t, tab, command) })
	t.Run("server started again", func(t *testing.T) { testRestart(t, tab, command) })
	t.Run("reading", func(t *testing.T) { testReading(t, tab, command) })
	t.Run("search", func(t *testing.T) { testSearch(t, tab, command) })
	t.Run("field of a webhook", func(t *testing.T) { testWebhookField(t, tab, command) })
	t.Run("media and cards", func(t *testing.T) { testMedia(t, tab, command) })
	t.Run("signs", func(t *testing.T) { testSigns(t, tab, command) })
	t.Run("a long URL", func(t *testing.T) { testLongURL(t, tab, command) })
	t.Run("touch, zoom and paper", func(t *testing.T) { testTouch(t, tab, command) })
	t.Run("one-time codes", func(t *testing.T) { testOTP(t, tab, command) })
	t.Run("traffic and faults", func(t *testing.T) { testTrafficPage(t, tab, command) })
	t.Run("twelve tabs", func(t *testing.T) { testTwelveTabs(t, tab, command) })
	t.Run("no shared workers", func(t *testing.T) { testNoSharedWorkers(t, tab, command) })
	t.Run("a reader of old lines", func(t *testing.T) { testReader(t, tab, command) })
	t.Run("a tap", func(t *testing.T) { testTap(t, tab, command) })
	t.Run("the only conversation", func(t *testing.T) { testOnlyConversation(t, tab, command) })
	t.Run("what is gone", func(t *testing.T) { testGone(t, tab, command) })
	t.Run("toasts, chips and hover", func(t *testing.T) { testRoom(t, tab, command) })
	t.Run("forced colors", func(t *testing.T) { testForcedColors(t, tab, command) })
	t.Run("a fault that hit", func(t *testing.T) { testFaultHit(t, tab, command) })
	t.Run("hostile texts", func(t *testing.T) { testHostileTexts(t, tab, command) })
	t.Run("labels, contrast and widths", func(t *testing.T) { testAudit(t, tab, command) })
	t.Run("keyboard alone", func(t *testing.T) { testKeyboard(t, tab, command) })
	t.Run("ten thousand conversations", func(t *testing.T) { testManyConversations(t, tab, command) })
	t.Run("load", func(t *testing.T) { testLoad(t, tab, command) })
	t.Run("screenshots", func(t *testing.T) { testScreenshots(t, tab, command) })
}

// testTheWholeWay sends, answers, breaks the service and advances the clock, with the page open all the time.
func testTheWholeWay(t *testing.T, tab browser, command string) {
	t.Helper()
	program := startBot(t)
	b := startSandbox(t, command, program.args()...)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/") // live: what comes before is shown, but not announced
	do(t, tab, `window.stays = true`)
	eventually(t, tab, `document.body.innerText.includes("No messages yet")`)

	client := b.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Your code is 482913", CallbackURL: program.URL + "/delivery?s=%s"})
	require.NoError(t, err)
	eventually(t, tab, `document.querySelector(".thread").innerText.includes("Your code is 482913")`)
	eventually(t, tab, `document.querySelector("#say").textContent.includes("New message to +639171234567 by SMS")`)
	do(t, tab, `document.querySelector(".thread").click()`)
	eventually(t, tab, `document.querySelector(".codechip").innerText.includes("482913")`)
	eventually(t, tab, `document.querySelector(".entry .hook").innerText.includes("delivered → 200")`)

	_, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Interactive{
		Body: "When shall we come?", Action: chatapp2.ReplyButtons{{ID: "am", Title: "Morning"}, {ID: "pm", Title: "Afternoon"}},
	}})
	require.NoError(t, err)
	eventually(t, tab, `document.querySelectorAll(".thread").length === 2`)
	do(t, tab, `document.querySelector(".thread").click()`)
	eventually(t, tab, `document.querySelectorAll(".tap").length === 2`)
	do(t, tab, `document.querySelectorAll(".tap")[1].click()`)
	eventually(t, tab, `document.querySelector(".entry.out .hook").innerText.includes("answer → 200")`)
	do(t, tab, `[...document.querySelectorAll(".entry.out .under button")].find(b => b.textContent === "Twice at once").click()`)
	eventually(t, tab, `document.querySelector(".toast")`)
	program.mu.Lock()
	require.Len(t, program.received, 1, "an event is handled once")
	reply, ok := program.received[0].(webhook.Reply)
	program.mu.Unlock()
	require.True(t, ok)
	assert.Equal(t, "pm", reply.ID)

	do(t, tab, `document.querySelector('a[href="/_sandbox/page/faults"]').click()`)
	eventually(t, tab, `document.querySelector("#fault-accept-then-drop")`)
	do(t, tab, `document.querySelector("#fault-accept-then-drop form button").click()`)
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("1 ×") && document.querySelector("#rules").innerText.includes("accept-then-drop")`)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639180001111", Text: "Did this go out?"})
	require.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	eventually(t, tab, `document.querySelector("tbody tr").innerText.includes("unknown")`)
	eventually(t, tab, `document.querySelector("tbody tr").innerText.includes("holds it")`)
	var held struct{ Messages []struct{ Text string } }
	b.get(t, "messages?to=639180001111", &held)
	require.Len(t, held.Messages, 1, "the ledger agrees")

	b.post(t, "deliveries", map[string]any{"channel": "chatapp1", "to": ana, "outcome": "unreachable"})
	_, err = client.ChatApp1.Send(t.Context(), chatapp1.New("acme", ana).Text("Your driver is here").WithTTL(10*time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Your driver is here. Please come down."}))
	require.NoError(t, err)
	do(t, tab, `document.querySelector('.tabs a').click()`)
	eventually(t, tab, `document.querySelector(".thread").innerText.includes("Your driver is here")`)
	do(t, tab, `document.querySelector(".thread").click()`)
	eventually(t, tab, `document.querySelector(".entry .tick").getAttribute("aria-label") === "queued"`)
	do(t, tab, `[...document.querySelectorAll("#details button")].find(b => b.textContent.includes("Advance the clock 10m")).click()`)
	eventually(t, tab, `document.querySelector(".entry .tick").getAttribute("aria-label") === "expired"`)
	eventually(t, tab, `document.querySelector(".link a").textContent.includes("Fallback SMS sent")`)
	do(t, tab, `document.querySelector(".link a").click()`)
	eventually(t, tab, `document.querySelector("#log").innerText.includes("Please come down.")`)
	assert.True(t, eval[bool](t, tab, `window.stays === true`), "the page was never loaded anew")

	do(t, tab, `document.querySelector('a[href="/_sandbox/page/traffic"]').click()`)
	eventually(t, tab, `document.querySelectorAll(".exchanges a").length >= 6`)
	do(t, tab, `document.querySelector(".exchanges a").click()`)
	eventually(t, tab, `document.querySelector("#exchange").innerText.includes("Copy as curl")`)
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
	eventually(t, tab, `document.querySelectorAll(".entry").length === 6`)
	assert.Empty(t, eval[string](t, tab, `window.pwned ? "code ran" : ""`))
	assert.Zero(t, eval[int](t, tab, `document.querySelectorAll("#log script, #log img, #log iframe, #log svg[onload]").length`))
	assert.Contains(t, eval[string](t, tab, `document.querySelector("#log").innerText`), "U+202E")
	b.open(t, tab, conversation("chatapp2", ana))
	eventually(t, tab, `document.querySelector(".load")`)
	assert.Zero(t, program.media.Load(), "nothing was fetched")
	do(t, tab, `document.querySelector(".load").click()`)
	eventually(t, tab, `document.querySelector(".media img").naturalWidth === 80`)
	assert.EqualValues(t, 1, program.media.Load())
	_, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Text{Body: "one more"}})
	require.NoError(t, err)
	eventually(t, tab, `document.querySelectorAll(".entry").length === 2`)
	assert.True(t, eval[bool](t, tab, `!!document.querySelector(".media img")`), "what was shown stays")
	assert.Zero(t, eval[int](t, tab, `performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin) && !e.name.endsWith("/table.svg")).length`))
}

// axeCore returns axe-core, which looks for what keeps people out. .ci/browser installs it.
func axeCore(t *testing.T) string {
	t.Helper()
	if *axe == "" {
		return ""
	}
	script, err := os.ReadFile(*axe)
	require.NoError(t, err, "npm ci installs axe-core; -axe= leaves it out")
	return string(script)
}

// axeViolations is an expression for what axe-core finds, a line for each.
const axeViolations = `axe.run(document, { resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } }).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary)))`

// testAudit looks at every page in both color schemes and at four widths.
func testAudit(t *testing.T, tab browser, command string) {
	t.Helper()
	core := axeCore(t)
	program := startBot(t)
	b := startSandbox(t, command, program.args()...)
	view(t, tab, 820, 900, "light")
	b.open(t, tab, "/_sandbox/")
	assert.Empty(t, eval[[]string](t, tab, audit), "the first minute")
	gallery(t, b)
	scene(t, b, program.URL)
	pages := []string{
		conversation("chatapp2", "+639990001111"),
		"/_sandbox/", conversation("chatapp2", ana), conversation("sms", "+639195550142"), conversation("chatapp1", "+639195550142"),
		"/_sandbox/page/faults", "/_sandbox/page/traffic", "/_sandbox/page/traffic?exchange=1", "/_sandbox/page/connect",
	}
	var found struct{ Messages []struct{ ID string } }
	b.get(t, "messages?channel=chatapp2", &found)
	pages = append(pages, conversation("chatapp2", ana)+"&message="+url.QueryEscape(found.Messages[0].ID))
	for i, width := range []int64{390, 1440, 820, 2560} {
		for j, scheme := range []string{"light", "dark"} {
			if !*whole && i != j {
				continue // the narrow page in the light scheme, the wide one in the dark
			}
			view(t, tab, width, 900, scheme)
			for _, path := range pages {
				b.open(t, tab, path)
				do(t, tab, `document.querySelectorAll("details").forEach(d => d.open = true)`)
				assert.Empty(t, eval[[]string](t, tab, audit), "%s at %d, %s", path, width, scheme)
				if core != "" {
					eval[bool](t, tab, core+"; true")
					assert.Empty(t, evalPromise[[]string](t, tab, axeViolations), "%s at %d, %s", path, width, scheme)
				}
			}
		}
	}
}

// testKeyboard walks through the page with the keyboard alone.
func testKeyboard(t *testing.T, tab browser, command string) {
	t.Helper()
	program := startBot(t)
	b := startSandbox(t, command, program.args()...)
	client := b.client(t)
	for i, text := range []string{"first", "second", "third"} {
		_, err := client.ChatApp2.Send(t.Context(), chatapp2.Message{To: fmt.Sprint("+63917000000", i), Content: chatapp2.Text{Body: text}})
		require.NoError(t, err)
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 3`)
	press := func(keys string) { run(t, tab, chromedp.KeyEvent(keys)) }
	// shortcut presses a key that a person's browser would not type into the field that then gets the focus.
	shortcut := func(key string) {
		do(t, tab, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true }))`, key))
	}

	press("j")
	eventually(t, tab, `document.querySelector("#log").innerText.includes("third")`)
	press("j")
	eventually(t, tab, `document.querySelector("#log").innerText.includes("second")`)
	shortcut("r")
	eventually(t, tab, `document.activeElement.id === "reply"`)
	press("Yes, please")
	press(kb.Enter)
	eventually(t, tab, `document.querySelector(".entry.out").innerText.includes("Yes, please")`)
	eventually(t, tab, `document.querySelector(".entry.out .hook").innerText.includes("200")`)
	eventually(t, tab, `document.querySelector("#reply").value.trim() === ""`)
	press(kb.Escape)
	shortcut("/")
	eventually(t, tab, `document.activeElement.id === "q"`)
	press("first")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 1`)
	press(kb.Escape)
	press("g")
	press("f")
	eventually(t, tab, `document.querySelector("#fault-slow")`)
	press("?")
	eventually(t, tab, `document.querySelector("#shortcuts").open`)
	press(kb.Escape)
	eventually(t, tab, `!document.querySelector("#shortcuts").open`)

	// Tab reaches everything that can be used, in order, and shows where it is.
	for _, path := range []string{"/_sandbox/page/faults", "/_sandbox/page/connect", conversation("chatapp2", "+639170000001")} {
		b.open(t, tab, path)
		wanted := eval[int](t, tab, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), textarea, summary, [tabindex='0']")].filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !(e.type === 'radio' && !e.checked)).length`)
		reached := map[string]bool{}
		for range wanted + 5 {
			press(kb.Tab)
			at := eval[struct {
				Path    string
				Outline bool
			}](t, tab, `(() => { const e = document.activeElement; let path = ""; for (let at = e; at && at !== document.documentElement; at = at.parentElement) path += ">" + [...(at.parentElement?.children ?? [])].indexOf(at);
				return { Path: e === document.body ? "" : path, Outline: e === document.body || getComputedStyle(e).outlineStyle !== "none" } })()`)
			assert.True(t, at.Outline, "the focus shows, on %s", path)
			if at.Path != "" {
				reached[at.Path] = true
			}
		}
		assert.GreaterOrEqual(t, len(reached), wanted-1, "%s: everything is reached", path)
	}
}

func testManyConversations(t *testing.T, tab browser, command string) {
	t.Helper()
	const conversations = 150
	b := startSandbox(t, command)
	for i := range conversations {
		b.text(t, fmt.Sprintf("+63917%07d", i), fmt.Sprint("Message ", i))
	}
	view(t, tab, 1440, 900, "dark")
	b.open(t, tab, "/_sandbox/")
	eventually(t, tab, `document.querySelectorAll(".thread").length === 100`)
	do(t, tab, `document.querySelector(".pager a").click()`)
	eventually(t, tab, `document.querySelector(".pager").innerText.includes("101–150 of 150")`)
	do(t, tab, `const q = document.querySelector("#q"); q.value = "639170000021"; q.dispatchEvent(new Event("input", { bubbles: true }))`)
	eventually(t, tab, `document.querySelectorAll(".thread").length === 1`)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639170000021", Text: "One more"})
	require.NoError(t, err)
	eventually(t, tab, `document.querySelector(".thread").innerText.includes("One more")`)
}

// testLoad sends 100 messages a second with the page open.
func testLoad(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	client := b.client(t, messaging.WithTimeout(20*time.Second))
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	do(t, tab, `window.longest = 0; let last = performance.now(); setInterval(() => { const now = performance.now(); window.longest = Math.max(window.longest, now - last); last = now }, 50)`)
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
			eventually(t, tab, `document.querySelector(".thread")`)
			do(t, tab, `document.querySelector(".thread").click()`)
			eventually(t, tab, `document.querySelector("#log .entry")`)
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
	longest, heap := eval[float64](t, tab, `window.longest`), eval[float64](t, tab, `performance.memory.usedJSHeapSize`)
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
