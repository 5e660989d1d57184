package doctor

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/randomcontract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// private is what must appear nowhere: parts of numbers, texts, references and credentials.
var private = regexp.MustCompile(`917123004|quick brown|fox owes|4711 pesos|917000000|Test message of|order-[0-9]|doctor-[A-Z0-9]|secret-token|Zorro`)

// TestNothingPrivateIsShown runs the doctor with all that it can do under random contracts, and looks for what must not be in its
// output and its files.
func TestNothingPrivateIsShown(t *testing.T) {
	t.Parallel()
	for seed := range 8 {
		t.Run(string(rune('a'+seed)), func(t *testing.T) {
			t.Parallel()
			overlay := string(randomcontract.Overlay(uint64(seed + 1)))
			srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, overlay)), messagingtest.WithToken("secret-token-1"))
			seedMessages(srv, 6)
			srv.RefuseDuplicates(seed%2 == 0)
			r := newRig(t, srv.URL, srv.Token)
			r.overlayFile(overlay)
			dir, overlayOut := filepath.Join(t.TempDir(), "recorded"), filepath.Join(t.TempDir(), "out.json")
			args := []string{"-send", "+639170000001", "-from", "Zorro", "-yes", "-record", dir, "-o", overlayOut, "-force"}
			if seed >= 4 {
				args = append(args, "-json")
			}
			status, out, progress := r.run(args...)
			assert.Less(t, status, statusUnknown, "%s%s", out, progress)
			assert.Empty(t, private.FindAllString(out+progress, -1))
			files, err := filepath.Glob(filepath.Join(dir, "*.json"))
			require.NoError(t, err)
			assert.Greater(t, len(files), 10)
			for _, file := range append(files, overlayOut) {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				assert.Empty(t, private.FindAllString(string(text), -1), "%s: %s", file, text)
				unescaped, err := url.QueryUnescape(string(text))
				assert.True(t, err != nil || private.FindString(unescaped) == "", "%s: %s", file, private.FindString(unescaped))
			}
		})
	}
}

// TestReplayServesRecordedExchanges examines a service, and then what was recorded of it: the report is the same.
func TestReplayServesRecordedExchanges(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	seedMessages(srv, 6)
	r := newRig(t, srv.URL+"/", srv.Token)
	dir := filepath.Join(t.TempDir(), "recorded")
	status, out, progress := r.run("-record", dir)
	require.Equal(t, statusOK, status, "%s%s", out, progress)
	require.Contains(t, progress, "exchanges are in "+dir)

	replay := newRig(t, messagingtest.Replay(t, dir).URL, "another-token")
	status, again, progress := replay.run()
	// A reference that exists was replaced in answers and requests alike; the one that does not exist is drawn anew.
	assert.Equal(t, statusOK, status, "%s%s", again, progress)
	assert.Equal(t, out, again)
}

func TestScramblerIsConsistent(t *testing.T) {
	t.Parallel()
	d := doctor{
		table: parseContract(t, "{}").Table(), base: &url.URL{Host: "api.example.com"}, secrets: []string{"hunter22"},
		sensitive: map[string]bool{"1234": true, "Hi": true, "12": true, "success": true},
	}
	s := d.newScrambler()
	for _, text := range []string{"639171234567", "+639171234567", "Kumusta, 世界? é", "Hi", "1234", "12", "success", "order-17", "A"} {
		got := s.value(text, true)
		assert.NotEqual(t, text, got)
		assert.Len(t, []rune(got), len([]rune(text)))
		assert.Equal(t, got, s.value(text, false), "the same everywhere")
	}
	for _, text := range []string{"delivered", "DELIVERED", "17", "0.50", "2026-10-03T14:44:23Z", "ok", ""} {
		assert.Equal(t, text, s.value(text, false))
	}
	assert.Equal(t, "1791038663", s.value("1791038663", true), "a time where one may be")
	assert.NotEqual(t, "1791038663", s.value("1791038663", false), "a number elsewhere")
	assert.NotEqual(t, "4711", s.value("4711", false), "a code that was sent")
	assert.Equal(t, `{"code":"200199","text":"`, string(s.body([]byte(`{"code":"200199","text":"4711"}`), "").JSON)[:25], "a code of the contract")
	assert.Equal(t, "REDACTED", s.value("Bearer hunter22", false))
	assert.True(t, strings.HasPrefix(s.value("https://api.example.com/api/sms?cursor=abcdef", false), "/api/sms?cursor="))
	assert.NotContains(t, s.value("https://elsewhere.example.com/639171234567", false), "639")
	assert.NotContains(t, string(s.body([]byte(`{"+639171234567": {"Hi": "x"}, "n": 639171234567}`), "").JSON), "917123")
	assert.NotContains(t, s.body([]byte(`to=639171234567&text=Hello+you`), "application/x-www-form-urlencoded").Text, "917123")
	assert.Equal(t, "<html>22 bytes", s.body([]byte("<p>639171234567</p>\n\n\n"), "text/html").Text[:6]+"22 bytes")
}
