package doctor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/randomcontract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

const seeds = 12

// TestDefaultContractOfDefaultService finds nothing to write.
func TestDefaultContractOfDefaultService(t *testing.T) {
	srv := messagingtest.NewServer(t)
	seedMessages(srv, 6)
	status, out, progress := newRig(t, srv.URL, srv.Token).sends()
	assert.Equal(t, 0, status, "%s%s", out, progress)
	assert.Contains(t, out, "keys that end in //\n{}\n")
}

// TestTrueContractStaysAsItIs examines services of random contracts with these contracts: what is written says nothing else.
func TestTrueContractStaysAsItIs(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			overlay := randomcontract.Overlay(seed + 1)
			srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, string(overlay))))
			seedMessages(srv, 6)
			r := newRig(t, srv.URL, srv.Token)
			r.overlayFile(string(overlay))
			file := filepath.Join(t.TempDir(), "out.json")
			status, out, progress := r.sends("-o", file)
			assert.Equal(t, 0, status, "%s%s%s", overlay, out, progress)
			assert.Empty(t, private.FindAllString(out+progress, -1))
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, parseContract(t, string(overlay)).Table(), parseContract(t, string(raw)).Table(), out)
		})
	}
}

// places are the sections of a contract that say where something stands in responses.
type places struct {
	List struct {
		Record map[string][]string `json:"record,omitempty"`
		Page   map[string][]string `json:"page,omitempty"`
		Items  []string            `json:"items,omitempty"`
	} `json:"sms.list"`
	Send struct {
		Response map[string][]string `json:"response,omitempty"`
	} `json:"sms.send"`
}

// TestRenamedMembersAreProven examines services whose responses are those of random contracts with the default contract: what a message shows
// is written, and what is written is true.
func TestRenamedMembersAreProven(t *testing.T) {
	defaults := contract.Default().Table()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var truth places
			require.NoError(t, json.Unmarshal(randomcontract.Overlay(seed+1), &truth))
			truth.List.Page, truth.Send.Response["status"] = nil, defaults.SMSSend.Response["status"]
			if slices.Equal(truth.Send.Response["id"], truth.Send.Response["reference"]) {
				truth.Send.Response, truth.List.Record = nil, nil // that the one is the other is for a person to say
			}
			raw, err := json.Marshal(truth)
			require.NoError(t, err)
			names := parseContract(t, string(raw)).Table()
			srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, string(raw))))
			seedMessages(srv, 6)
			file := filepath.Join(t.TempDir(), "out.json")
			_, out, progress := newRig(t, srv.URL, srv.Token).sends("-o", file)
			raw, err = os.ReadFile(file)
			require.NoError(t, err, "%s%s", out, progress)
			var found places
			require.NoError(t, json.Unmarshal(raw, &found))
			for concept, paths := range found.List.Record {
				if len(paths) > 0 && concept[len(concept)-1] != '/' {
					assert.Contains(t, names.SMSList.Record[concept], paths[0], "record %s\n%s", concept, out)
				}
			}
			for concept, paths := range found.Send.Response {
				if len(paths) > 0 && concept[len(concept)-1] != '/' {
					assert.Contains(t, names.SMSSend.Response[concept], paths[0], "response %s\n%s", concept, out)
				}
			}
			for _, concept := range []string{"reference", "text", "to"} {
				want := names.SMSList.Record[concept]
				if len(want) > 0 && !slices.Contains(defaults.SMSList.Record[concept], want[0]) {
					assert.Equal(t, want[:1], found.List.Record[concept], "record %s\n%s", concept, out)
				}
			}
		})
	}
}
