package doctor

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
)

// What no message had was not taken, also a field that the contract has and this command does not know.
func TestExamineSendsTellsWhatWasSent(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"))
	require.NoError(t, err)
	names := *contract.Default().Table()
	names.SMSSend.Fields = maps.Clone(names.SMSSend.Fields)
	names.SMSSend.Fields["campaign"] = "campaign"
	d := &doctor{client: client, table: &names, sent: []*message{{values: map[string]string{"from": "ACME", "to": "1", "text": "Hi", "reference": "r"}}}}
	d.examineSends()
	said := map[string]string{}
	for _, e := range d.report {
		if e.part == partFields {
			said[e.concept] = e.word + ": " + e.why
		}
	}
	want := map[string]string{"campaign": "absent: was not sent", "callback": "absent: was not sent"}
	for _, concept := range []string{"from", "to", "text", "reference"} {
		want[concept] = "plausible: was taken; nothing shows that it counts"
	}
	assert.Equal(t, want, said)
}
