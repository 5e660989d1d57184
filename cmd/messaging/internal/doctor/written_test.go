package doctor

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// examinedInto examines a fake with -send, and returns the file for the overlay, the report, and the progress.
func examinedInto(t *testing.T, f *fake, args ...string) (url, file string, report Report, progress string) {
	t.Helper()
	f.seed()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "secret-token-1")
	file = filepath.Join(t.TempDir(), "overlay.json")
	args = append([]string{"-send", "+639170000001", "-from", "ACME", "-yes", "-wait", "30s", "-o", file}, args...)
	report, progress = r.reportAndProgress(args...)
	return server.URL, file, report, progress
}

// TestReferenceThatIsRefusedIsNotProposed sends to a service that refuses a reference ID under every name: the overlay has no name for it, so
// that a send with one fails before it goes out, and the summary does not say that sends work.
func TestReferenceThatIsRefusedIsNotProposed(t *testing.T) {
	t.Parallel()
	f := numberFake()
	whole := f.read
	f.read = func(w http.ResponseWriter, r *http.Request) (fakeMessage, bool) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if bytes.Contains(raw, []byte(`"custom_id"`)) {
			writeJSON(w, http.StatusBadRequest, object{"message": `"custom_id" is not allowed`})
			return fakeMessage{}, false
		}
		return whole(w, r)
	}
	url, file, report, progress := examinedInto(t, f)
	assert.NotContains(t, report.Summary.Works, "send")
	assert.NotContains(t, report.Summary.Works, "settle")
	r := newRig(t, "", "")
	assert.Equal(t, Differs, r.check(report, "send", "field reference").Result)
	assert.Contains(t, r.check(report, "send", "duplicate").Detail, "no reference ID")

	raw, err := os.ReadFile(file)
	require.NoError(t, err, progress)
	names := parseContract(t, string(raw))
	assert.Empty(t, names.Table().SMSSend.Fields["reference"])
	client, err := messaging.NewClient(url, messaging.WithToken("secret-token-1"), messaging.WithContract(names))
	require.NoError(t, err)
	refused := f.refused
	message := sms.Message{From: "ACME", To: "+639170000001", Text: "hello you", ReferenceID: "order-1"}
	_, err = client.SMS.Send(t.Context(), message)
	require.Error(t, err)
	assert.Equal(t, refused, f.refused, "nothing went out")
	message.ReferenceID = ""
	_, err = client.SMS.Send(t.Context(), message)
	assert.NoError(t, err)
}

// TestReferenceIsFoundAmongMembersOfRows sends to a service whose name for the reference ID no vocabulary has, but its rows do.
func TestReferenceIsFoundAmongMembersOfRows(t *testing.T) {
	t.Parallel()
	f := numberFake()
	whole, row := f.read, f.row
	f.read = func(w http.ResponseWriter, r *http.Request) (fakeMessage, bool) {
		raw, _ := io.ReadAll(r.Body)
		if bytes.Contains(raw, []byte(`"custom_id"`)) {
			writeJSON(w, http.StatusBadRequest, object{"message": `"custom_id" is not allowed`})
			return fakeMessage{}, false
		}
		r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(raw, []byte(`"correlation"`), []byte(`"custom_id"`), 1)))
		return whole(w, r)
	}
	f.row = func(m fakeMessage) any {
		all := row(m).(object)
		inner := all["sms"].(object)
		inner["correlation"] = inner["custom_id"]
		delete(inner, "custom_id")
		return all
	}
	_, _, report, _ := examinedInto(t, f)
	found := parseContract(t, string(report.Overlay)).Table()
	assert.Equal(t, "correlation", found.SMSSend.Fields["reference"])
	assert.Equal(t, "sms.correlation", found.SMSList.Record["reference"][0])
}

// TestOverlayThatDoesNotWorkIsNotWritten has services with which the overlay fails to list, or to send once more: FILE is not written, and
// what was found is in FILE.partial, of which none is lost.
func TestOverlayThatDoesNotWorkIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *fake){
		"no second page": func(f *fake) {
			f.offset = "zzqq"
			f.refuses = func(w http.ResponseWriter, unknown string, _ []string) {
				writeJSON(w, http.StatusBadRequest, object{"errorMessage": "unknown parameter " + unknown})
			}
		},
		"no second send": func(f *fake) {
			whole, sent := f.read, 0
			f.read = func(w http.ResponseWriter, r *http.Request) (m fakeMessage, ok bool) {
				if sent > 0 {
					writeJSON(w, http.StatusForbidden, object{"errorMessage": "once a day"})
					return m, false
				}
				if m, ok = whole(w, r); ok {
					sent++
				}
				return m, ok
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := offsetFake()
			change(f)
			url, file, report, progress := examinedInto(t, f)
			assert.NoFileExists(t, file)
			saved, err := os.ReadFile(file + ".partial")
			require.NoError(t, err)
			assert.JSONEq(t, string(report.Overlay), string(saved))
			assert.Contains(t, progress, file+" is not written: it was not seen to ")
			assert.NotContains(t, progress, "is written to")

			require.NoError(t, os.WriteFile(file+".partial", []byte("mine"), 0o600))
			r := newRig(t, url, "secret-token-1")
			args := []string{"-send", "+639170000001", "-from", "ACME", "-yes", "-wait", "2s", "-o", file}
			_, out, progress := r.run(args...)
			kept, err := os.ReadFile(file + ".partial")
			require.NoError(t, err)
			assert.Equal(t, "mine", string(kept), progress)
			assert.Contains(t, out, "not to be used as it is")
			assert.Contains(t, progress, "exists")
			_, _, progress = r.run(append(args, "-force")...)
			kept, err = os.ReadFile(file + ".partial")
			require.NoError(t, err)
			assert.NotEqual(t, "mine", string(kept), progress)
			assert.NoFileExists(t, file)
		})
	}
}
