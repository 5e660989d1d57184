package browsertest

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

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
		do(t, tab, `const f = document.querySelector("`+form+`"); f.elements.`+field+`.value = "`+text+`"; f.requestSubmit()`)
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
