package browsertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
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

// A box is a running sandbox.
type box struct {
	Base, Token string
	process     *exec.Cmd
}

// buildCommand builds the command and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "messaging")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../cmd/messaging", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// startSandbox starts the command on a free port, as a user would.
func startSandbox(t *testing.T, command string, args ...string) *box {
	t.Helper()
	args = append([]string{"sandbox", "-listen", "127.0.0.1:0"}, args...)
	b := &box{process: exec.Command(command, args...)}
	b.process.Stderr = os.Stderr
	stdout, err := b.process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, b.process.Start())
	t.Cleanup(func() {
		_ = b.process.Process.Signal(os.Interrupt)
		_ = b.process.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for (b.Base == "" || b.Token == "") && lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "export MESSAGING_BASE_URL="); ok {
			b.Base = value
		}
		if value, ok := strings.CutPrefix(lines.Text(), "export MESSAGING_TOKEN="); ok {
			b.Token = value
		}
	}
	require.NotEmpty(t, b.Token, "the command printed no token")
	return b
}

// client returns a client with what the command printed.
func (b *box) client(t *testing.T, opts ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(b.Base, append([]messaging.Option{messaging.WithToken(b.Token)}, opts...)...)
	require.NoError(t, err)
	return client
}

// A browser is the context of a tab.
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
func (b *box) open(t *testing.T, tab browser, path string) {
	t.Helper()
	run(t, tab, chromedp.Navigate(b.Base+path))
	eventually(t, tab, `document.querySelector("#live").title === "Live"`)
}

// screenshot writes a picture of the window, when nothing moves any more.
func screenshot(t *testing.T, tab browser, path string) {
	t.Helper()
	eventually(t, tab, `document.fonts.status === "loaded" && document.getAnimations().every(a => a.playState !== "running" || a.effect.getTiming().iterations === Infinity)`)
	ctx, cancel := context.WithTimeout(tab, time.Minute)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, picture, 0o600))
}
