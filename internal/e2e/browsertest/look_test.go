package browsertest

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp2"
)

//go:embed audit.js
var audit string

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
	waitForCount(t, tab, ".thread", 3)
	press := func(keys string) { run(t, tab, chromedp.KeyEvent(keys)) }
	// shortcut presses a key that a person's browser would not type into the field that then gets the focus.
	shortcut := func(key string) {
		do(t, tab, fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: %q, bubbles: true, cancelable: true }))`, key))
	}

	press("j")
	waitForText(t, tab, "#log", "third")
	press("j")
	waitForText(t, tab, "#log", "second")
	shortcut("r")
	eventually(t, tab, `document.activeElement.id === "reply"`)
	press("Yes, please")
	press(kb.Enter)
	waitForText(t, tab, ".entry.out", "Yes, please")
	waitForText(t, tab, ".entry.out .hook", "200")
	eventually(t, tab, `document.querySelector("#reply").value.trim() === ""`)
	press(kb.Escape)
	shortcut("/")
	eventually(t, tab, `document.activeElement.id === "q"`)
	press("first")
	waitForCount(t, tab, ".thread", 1)
	press(kb.Escape)
	press("g")
	press("f")
	waitFor(t, tab, "#fault-slow")
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

// testToastsAndActions checks that toasts cover no button, and that the actions of an entry show while the mouse is on it.
func testToastsAndActions(t *testing.T, tab browser, command string) {
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
		typeInto(t, tab, "#reply", "Thank you")
		submit(t, tab, "form.type")
		eventually(t, tab, look)
		assert.Empty(t, eval[[]string](t, tab, `window.covered`), "a toast covers no button at %d", width)
		eventually(t, tab, `(l => l.scrollHeight - l.scrollTop - l.clientHeight < 80)(document.querySelector("#log"))`)
		b.open(t, tab, "/_sandbox/page/faults")
		typeInto(t, tab, "#fault-slow input", "x")
		do(t, tab, `document.querySelector(".doc").scrollTop = 500`)
		click(t, tab, "#fault-slow button")
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
