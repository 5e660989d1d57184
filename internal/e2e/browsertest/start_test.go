package browsertest

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
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

// testTheWholeWay sends, answers, breaks the service and advances the clock, with the page open all the time.
func testTheWholeWay(t *testing.T, tab browser, command string) {
	t.Helper()
	program := startBot(t)
	b := startSandbox(t, command, program.args()...)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/") // live: what comes before is shown, but not announced
	do(t, tab, `window.stays = true`)
	waitForText(t, tab, "body", "No messages yet")

	client := b.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Your code is 482913", CallbackURL: program.URL + "/delivery?s=%s"})
	require.NoError(t, err)
	waitForText(t, tab, ".thread", "Your code is 482913")
	eventually(t, tab, `document.querySelector("#say").textContent.includes("New message to +639171234567 by SMS")`)
	click(t, tab, ".thread")
	waitForText(t, tab, ".codechip", "482913")
	waitForText(t, tab, ".entry .hook", "delivered → 200")

	_, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Interactive{
		Body: "When shall we come?", Action: chatapp2.ReplyButtons{{ID: "am", Title: "Morning"}, {ID: "pm", Title: "Afternoon"}},
	}})
	require.NoError(t, err)
	waitForCount(t, tab, ".thread", 2)
	click(t, tab, ".thread")
	waitForCount(t, tab, ".tap", 2)
	do(t, tab, `document.querySelectorAll(".tap")[1].click()`)
	waitForText(t, tab, ".entry.out .hook", "answer → 200")
	do(t, tab, `[...document.querySelectorAll(".entry.out .under button")].find(b => b.textContent === "Twice at once").click()`)
	waitFor(t, tab, ".toast")
	program.mu.Lock()
	require.Len(t, program.received, 1, "an event is handled once")
	reply, ok := program.received[0].(webhook.Reply)
	program.mu.Unlock()
	require.True(t, ok)
	assert.Equal(t, "pm", reply.ID)

	click(t, tab, `a[href="/_sandbox/page/faults"]`)
	waitFor(t, tab, "#fault-accept-then-drop")
	click(t, tab, "#fault-accept-then-drop form button")
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("1 ×") && document.querySelector("#rules").innerText.includes("accept-then-drop")`)
	_, err = client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639180001111", Text: "Did this go out?"})
	require.Equal(t, messaging.Unknown, messaging.VerdictOf(err))
	waitForText(t, tab, "tbody tr", "unknown")
	waitForText(t, tab, "tbody tr", "holds it")
	var held struct{ Messages []struct{ Text string } }
	b.get(t, "messages?to=639180001111", &held)
	require.Len(t, held.Messages, 1, "the ledger agrees")

	b.post(t, "deliveries", map[string]any{"channel": "chatapp1", "to": ana, "outcome": "unreachable"})
	_, err = client.ChatApp1.Send(t.Context(), chatapp1.New("acme", ana).Text("Your driver is here").WithTTL(10*time.Minute).
		WithFallback(sms.Fallback{From: "ACME", Text: "Your driver is here. Please come down."}))
	require.NoError(t, err)
	click(t, tab, ".tabs a")
	waitForText(t, tab, ".thread", "Your driver is here")
	click(t, tab, ".thread")
	eventually(t, tab, `document.querySelector(".entry .tick").getAttribute("aria-label") === "queued"`)
	do(t, tab, `[...document.querySelectorAll("#details button")].find(b => b.textContent.includes("Advance the clock 10m")).click()`)
	eventually(t, tab, `document.querySelector(".entry .tick").getAttribute("aria-label") === "expired"`)
	eventually(t, tab, `document.querySelector(".link a").textContent.includes("Fallback SMS sent")`)
	click(t, tab, ".link a")
	waitForText(t, tab, "#log", "Please come down.")
	assert.True(t, eval[bool](t, tab, `window.stays === true`), "the page was never loaded anew")

	click(t, tab, `a[href="/_sandbox/page/traffic"]`)
	eventually(t, tab, `document.querySelectorAll(".exchanges a").length >= 6`)
	click(t, tab, ".exchanges a")
	waitForText(t, tab, "#exchange", "Copy as curl")
}

// testFirstMinute shows a sandbox that has no message yet: its code in each language, and its samples.
func testFirstMinute(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/")
	waitForText(t, tab, "body", "Waiting for your first message…")
	assert.Equal(t, []string{"curl", "Go", "Python", "Node", ".env"}, eval[[]string](t, tab, `[...document.querySelectorAll("[role=tab]")].map(e => e.innerText)`))
	for _, name := range []string{"curl", "go", "python", "node", "env"} {
		click(t, tab, "#tab-"+name)
		shown := eval[string](t, tab, `document.querySelector("[role=tabpanel]:not([hidden])").innerText`)
		assert.Contains(t, shown, b.Token, name)
		assert.Contains(t, shown, b.Base, name)
		assert.Equal(t, 1, eval[int](t, tab, `[...document.querySelectorAll("[role=tabpanel]:not([hidden]) [data-copy]")].length`), name)
	}
	focus(t, tab, "#tab-env")
	run(t, tab, chromedp.KeyEvent(kb.ArrowRight))
	eventually(t, tab, `document.activeElement.id === "tab-curl" && !document.querySelector("#way-curl").hidden`)
	clickText(t, tab, ".samples button", "Carousel")
	waitForCount(t, tab, ".cardlet", 2)
	eventually(t, tab, `document.title.startsWith("+639")`)
}

// testWebhookField saves an empty field, which asks first.
func testWebhookField(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command, "-webhook-sms", "http://127.0.0.1:1/hooks?key=top-secret")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/page/connect")
	eventually(t, tab, `document.querySelector("[data-webhook=sms] input").value === "http://127.0.0.1:1/hooks?key=••••"`)
	do(t, tab, `
		window.asked = 0;
		window.confirm = () => { window.asked++; return false }`)
	typeInto(t, tab, "[data-webhook=sms] input", "")
	submit(t, tab, "[data-webhook=sms]")
	eventually(t, tab, `window.asked === 1 && document.querySelector("[data-webhook=sms] input").value.includes("••••")`)
	var now struct{ Webhooks map[string]string }
	b.get(t, "settings", &now)
	assert.Contains(t, now.Webhooks["sms"], "127.0.0.1:1")
	do(t, tab, `window.confirm = () => true`)
	clickText(t, tab, "[data-webhook=sms] button", "Remove")
	eventually(t, tab, `document.querySelector("[data-webhook=sms] input").value === "" && document.querySelectorAll("[data-webhook=sms] button").length === 1`)
}

// testOTP asks for a code on the page of examples/otp, and enters a wrong code and the right one. Then it asks for a code that does not arrive.
func testOTP(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	program := filepath.Join(t.TempDir(), "otp")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../..", "-o", program, "./examples/otp").CombinedOutput()
	require.NoError(t, err, "%s", output)
	otp := exec.CommandContext(t.Context(), program, "serve")
	otp.Env = []string{"MESSAGING_BASE_URL=" + b.Base, "MESSAGING_TOKEN=" + b.Token, "OTP_ADDRESS=127.0.0.1:0"}
	stdout, err := otp.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, otp.Start())
	t.Cleanup(func() { _ = otp.Wait() }) // the context of the test ends it
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)

	run(t, tab, chromedp.Navigate(strings.TrimPrefix(strings.TrimSpace(line), "otp: open ")))
	enter := func(form, field, text string) {
		typeInto(t, tab, form+" [name="+field+"]", text)
		submit(t, tab, form)
	}
	enter("#ask", "to", "+639171234567")
	eventually(t, tab, `document.querySelector("#result").innerText === "The code is on its way." && document.querySelector("#enter").checkVisibility()`)
	enter("#enter", "code", "wrong")
	eventually(t, tab, `document.querySelector("#result").innerText === "the code is wrong"`)

	var found struct{ Messages []struct{ Code string } }
	b.get(t, "messages?to=639171234567", &found)
	require.Len(t, found.Messages, 1)
	enter("#enter", "code", found.Messages[0].Code)
	eventually(t, tab, `document.querySelector("#result").innerText === "The code is right."`)

	b.post(t, "deliveries", map[string]any{"to": "639181234567", "outcome": "failed"}) // on all channels
	enter("#ask", "to", "+639181234567")
	eventually(t, tab, `document.querySelector("#result").innerText === "The code may not arrive. You can ask for another one."`)
}
