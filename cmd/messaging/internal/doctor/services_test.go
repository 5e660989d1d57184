package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestAnswersOfServices examines the invented services of package contract with overlays that say how to ask them, and nothing of
// what they answer.
func TestAnswersOfServices(t *testing.T) {
	t.Parallel()
	const folder = "../../../../contract/testdata"
	for name, atLeast := range map[string]int{"cents": 7, "cursor": 15, "nested": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(folder, name, "contract.json"))
			require.NoError(t, err)
			truth := parseContract(t, string(raw)).Table()
			srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, string(raw))))
			seedMessages(srv, 6)

			var overlay map[string]map[string]any
			require.NoError(t, json.Unmarshal(raw, &overlay))
			for section, keys := range map[string][]string{"sms.list": {"record", "items", "page"}, "sms.send": {"response", "refused"}, "errors": {"code", "message", "request"}} {
				for _, key := range keys {
					delete(overlay[section], key)
				}
			}
			r := newRig(t, srv.URL, srv.Token)
			r.overlayFile(document.Encode(overlay))
			report := r.report("-send", "+639170000001", "-from", "ACME", "-yes")
			assert.Equal(t, statusDiffers, report.Status)
			_, err = contract.Parse(report.Overlay)
			require.NoError(t, err)
			var found answers
			require.NoError(t, json.Unmarshal(report.Overlay, &found))
			n := 0
			for _, section := range []struct{ truth, found map[string][]string }{
				{truth.SMSList.Record, found.List.Record}, {truth.SMSList.Page, found.List.Page}, {truth.SMSSend.Response, found.Send.Response},
			} {
				for concept, paths := range section.found {
					assert.Contains(t, section.truth[concept], paths[0], concept)
					n++
				}
			}
			assert.GreaterOrEqual(t, n, atLeast)
		})
	}
}
