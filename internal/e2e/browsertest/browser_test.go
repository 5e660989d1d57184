package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// chromium returns the path of the browser. Without one .ci/browser skips this package.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.Fail(t, "there is no Chromium; .ci/browser installs it")
	return ""
}

// A browser is the context of a tab. It is a type of its own because a test helper takes it after t.
type browser interface{ context.Context }

// startBrowser starts a browser with an empty profile and returns the context of a tab.
func startBrowser(t *testing.T) browser {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(time.Minute), // a browser takes long to start on a busy machine
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		// A mouse, which a machine without a screen may not have.
		chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"),
		chromedp.Flag("no-first-run", true), chromedp.Flag("disable-background-networking", true),
	)
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), opts...)
	tab, cancelTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		_ = chromedp.Do(tab, chromedp.Navigate("about:blank")) // ends the stream of events, which the browser would wait for
		_ = chromedp.Cancel(tab)                               // waits for the browser to end
		cancelTab()
		cancelAllocator()
	})
	require.NoError(t, chromedp.Do(tab)) // without a deadline: the browser lives as long as this context
	return tab
}

// run runs actions of the browser within a minute.
func run(t *testing.T, tab browser, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, actions...))
}

// eval returns the value of an expression in the page.
func eval[T any](t *testing.T, tab browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	require.NoError(t, err, expression)
	return value
}

// evalPromise returns what the promise of an expression in the page is fulfilled with.
func evalPromise[T any](t *testing.T, tab browser, expression string) T {
	t.Helper()
	do(t, tab, `window.fulfilled = undefined; (`+expression+`).then(v => window.fulfilled = { v }, e => window.fulfilled = { e: String(e) })`)
	eventually(t, tab, `window.fulfilled`)
	require.Empty(t, eval[string](t, tab, `window.fulfilled.e ?? ""`))
	return eval[T](t, tab, `window.fulfilled.v`)
}

// do evaluates statements in the page.
func do(t *testing.T, tab browser, statements string) {
	t.Helper()
	eval[bool](t, tab, "(() => { "+statements+"; return true })()")
}

// eventually waits until an expression in the page is true.
func eventually(t *testing.T, tab browser, expression string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if eval[bool](t, tab, "(() => { try { return !!("+expression+") } catch { return false } })()") {
			return
		}
	}
	t.Fatalf("not within a minute: %s\nthe page says: %s", expression, eval[string](t, tab, "document.body.innerText.slice(0, 3000)"))
}

// click clicks the first element that matches a selector.
func click(t *testing.T, tab browser, selector string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`document.querySelector(%q).click()`, selector))
}

// submit submits a form.
func submit(t *testing.T, tab browser, selector string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`document.querySelector(%q).requestSubmit()`, selector))
}

// focus moves the focus to the first element that matches a selector.
func focus(t *testing.T, tab browser, selector string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`document.querySelector(%q).focus()`, selector))
}

// clickText clicks the first element that matches a selector and shows exactly a text.
func clickText(t *testing.T, tab browser, selector, text string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].find(e => e.innerText === %q).click()`, selector, text))
}

// openThread opens the first conversation in the list that shows a text.
func openThread(t *testing.T, tab browser, text string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`[...document.querySelectorAll(".thread")].find(e => e.innerText.includes(%q)).click()`, text))
}

// waitFor waits until an element matches a selector.
func waitFor(t *testing.T, tab browser, selector string) {
	t.Helper()
	eventually(t, tab, fmt.Sprintf(`document.querySelector(%q)`, selector))
}

// waitForText waits until the first element that matches a selector shows a text.
func waitForText(t *testing.T, tab browser, selector, text string) {
	t.Helper()
	eventually(t, tab, fmt.Sprintf(`document.querySelector(%q).innerText.includes(%q)`, selector, text))
}

// waitForCount waits until n elements match a selector.
func waitForCount(t *testing.T, tab browser, selector string, n int) {
	t.Helper()
	eventually(t, tab, fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, selector, n))
}

// typeInto types into a field of the page, as its script sees it.
func typeInto(t *testing.T, tab browser, selector, text string) {
	t.Helper()
	do(t, tab, fmt.Sprintf(`
		const field = document.querySelector(%q);
		field.focus();
		field.value = %q;
		field.dispatchEvent(new Event("input", { bubbles: true }))`, selector, text))
}

// view sets the size of the window and the color scheme.
func view(t *testing.T, tab browser, width, height int64, scheme string) {
	t.Helper()
	run(t, tab, chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
}

// open opens a page of the sandbox, and waits until it hears of changes. Before that the page would miss that the sandbox ends.
func (b *sandbox) open(t *testing.T, tab browser, path string) {
	t.Helper()
	run(t, tab, chromedp.Navigate(b.Base+path))
	eventually(t, tab, `document.querySelector("#live").title === "Live"`)
}

// screenshot writes a picture of the window, when nothing moves any more.
func screenshot(t *testing.T, tab browser, path string) {
	t.Helper()
	eventually(t, tab, `document.fonts.status === "loaded" &&
		document.getAnimations().every(a => a.playState !== "running" || a.effect.getTiming().iterations === Infinity)`)
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, picture, 0o600))
}
