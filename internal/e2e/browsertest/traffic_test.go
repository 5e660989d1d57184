package browsertest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// testTrafficPage goes from a message to its exchange and back, and copies the command with the secret.
func testTrafficPage(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	id := b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message="+id)
	do(t, tab, `[...document.querySelectorAll("#details a")].find(e => e.innerText.startsWith("req-")).click()`)
	waitForText(t, tab, "#exchange", "Copy with secret")
	waitForText(t, tab, "#exchange", `"text":"Hello"`)
	do(t, tab, `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } }, configurable: true })`)
	click(t, tab, "[data-copy]")
	eventually(t, tab, `window.copied.includes("$MESSAGING_TOKEN")`)
	click(t, tab, "[data-secret]")
	eventually(t, tab, fmt.Sprintf(`window.copied.includes(%q)`, b.Token))
	clickText(t, tab, "#exchange a", "See the message")
	waitForText(t, tab, ".entry.current", "Hello")

	click(t, tab, `a[href$="page/faults"]`)
	waitFor(t, tab, "#scope")
	typeInto(t, tab, "#scope [name=to]", ben)
	click(t, tab, "#scope [value=duration]")
	typeInto(t, tab, "#scope [name=duration]", "1h")
	typeInto(t, tab, "#scope [name=skip]", "1")
	typeInto(t, tab, "#fault-status [name=status]", "500")
	click(t, tab, "#fault-status button")
	eventually(t, tab, `document.querySelector("#rules").innerText.includes("`+ben+`") && document.querySelector("#rules").innerText.includes("status 500")`)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "It passes"})
	require.NoError(t, err)
	_, err = b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: ben, Text: "Hi"})
	require.Error(t, err)
	b.text(t, ana, "not for you")
	click(t, tab, "#rules .mini")
	waitForText(t, tab, "#rules", "No faults")
}

// testFaultHit goes from the page of faults to the exchange that met a fault.
func testFaultHit(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	client := b.client(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/page/faults")
	click(t, tab, "#fault-accept-then-drop button")
	waitForText(t, tab, "#rules", "accept-then-drop")
	_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi", ReferenceID: "order-17"})
	require.Error(t, err)
	waitFor(t, tab, "#last-hit a")
	click(t, tab, "#last-hit a")
	waitForText(t, tab, "#exchange .marks", "in the ledger")
}
