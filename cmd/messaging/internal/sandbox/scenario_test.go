package sandbox

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onPage makes a request as the page does.
func (r *rig) onPage(method, path, body string) string {
	r.t.Helper()
	status, text := r.do(method, Root+path, body, "Authorization", "", tokenHeader, r.identity.page)
	require.Equal(r.t, http.StatusOK, status, text)
	return text
}

// TestScenarioRepeats records what somebody does on the page, and runs the code that is shown for it.
func TestScenarioRepeats(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	const offer = `{"messaging_product":"whatsapp","to":"` + ana + `","type":"interactive","interactive":{"type":"button","body":{"text":"B"},` +
		`"action":{"buttons":[{"type":"reply","reply":{"id":"y","title":"Yes"}}]}}}`
	status, _ := r.do(http.MethodPost, "/chatapp2/send", offer)
	require.Equal(t, http.StatusOK, status)
	buttons := r.messages(1)[0].ID
	r.onPage(http.MethodPost, "seen", `{"channel":"chatapp2","to":"`+ana+`","from":""}`)
	r.onPage(http.MethodPost, "replies", `{"channel":"chatapp2","from":"`+ana+`","message":"`+buttons+`","kind":"button","payload":"y"}`)
	r.onPage(http.MethodPost, "replies", `{"channel":"chatapp2","from":"`+ana+`","text":"It's \"mine\" `+"`now`"+`"}`)
	r.onPage(http.MethodPost, "deliveries", `{"message":"`+buttons+`","outcome":"read"}`)
	r.onPage(http.MethodPost, "faults", `{"fault":"accept-then-drop","n":1}`)
	r.onPage(http.MethodPost, "clock", `{"advance":"1h"}`)
	r.onPage(http.MethodDelete, "faults", ``)
	r.api(http.MethodPost, "clock", `{"advance":"1m"}`, nil)
	page := r.page("page/connect")
	contains(t, page, "What you did, as code")
	contains(t, r.page(""), "What you did, as code (7)", "the list in the menu has all but what a program did")

	r.mu.Lock()
	ways := r.scenarioCode()
	r.mu.Unlock()
	for _, way := range ways {
		contains(t, page, way.Code, way.Name)
		assert.NotContains(t, way.Code, r.service.Token)
		assert.NotContains(t, way.Code, buttons, "IDs differ in each run")
	}
	_, err := parser.ParseFile(token.NewFileSet(), "scenario.go", "package p\nfunc f(t *testing.T) {\n"+ways[1].Code+"}\n", 0)
	require.NoError(t, err, ways[1].Code)
	assert.Contains(t, ways[1].Code, "m1 := call(`GET`, `messages?channel=chatapp2&to=639171234567&wait=10s`, ``)\n")
	for i, program := range map[int][]string{0: {"bash", "-ec"}, 2: {"node", "--input-type=module", "-e"}} {
		if _, err := exec.LookPath(program[0]); err != nil {
			continue // .ci/full has it
		}
		if _, err := exec.LookPath("jq"); err != nil && i == 0 {
			continue
		}
		again := newRig(t, Config{})
		status, _ := again.do(http.MethodPost, "/chatapp2/send", offer)
		require.Equal(t, http.StatusOK, status)
		command := exec.CommandContext(t.Context(), program[0], append(program[1:], ways[i].Code)...)
		command.Env = append(os.Environ(), "MESSAGING_BASE_URL="+again.url, "MESSAGING_TOKEN="+again.service.Token)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", ways[i].Code, out)
		assert.Equal(t, "1h0m0s", again.readSettings().Advanced)
		contains(t, again.page("?channel=chatapp2&to=639171234567"), "It's \"mine\" `now`")
		again.settled(again.messages(1)[0].ID, func(m Message) bool { return m.State == "read" })
	}
	r.onPage(http.MethodDelete, "scenario", "")
	lacks(t, r.page("page/connect"), "m1 := call")
}

func TestScenarioNamesAnAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	var reply struct{ ID string }
	text := r.onPage(http.MethodPost, "replies", `{"channel":"sms","from":"`+ana+`","text":"Yes"}`)
	require.NoError(t, json.Unmarshal([]byte(text), &reply))
	r.onPage(http.MethodDelete, "messages/"+reply.ID, "")
	page := r.page("page/connect")
	contains(t, page, "m1 := call(`POST`, `replies`, ")
	contains(t, page, "call(`DELETE`, `messages/` + m1 + ``, ``)")
}
