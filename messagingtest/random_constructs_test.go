package messagingtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

func TestRandomOverlayIsValid(t *testing.T) {
	t.Parallel()
	for seed := uint64(1001); seed <= 1100; seed++ { // TestRandomContracts tries those before
		overlay := randomOverlay(seed)
		_, err := contract.Parse(overlay)
		require.NoError(t, err, "seed %d: %s", seed, overlay)
		require.Equal(t, string(overlay), string(randomOverlay(seed)))
	}
}

// Every construct comes up in a hundred contracts.
func TestRandomOverlaysDrawEveryConstruct(t *testing.T) {
	t.Parallel()
	drawn := map[string]int{}
	for seed := uint64(1); seed <= 100; seed++ {
		names, err := contract.Parse(randomOverlay(seed))
		require.NoError(t, err)
		c := table.Of(names)
		for construct, isDrawn := range map[string]bool{
			"a text in place of JSON":      slices.Equal(c.SMSSend.Response["status"], []string{""}),
			"an error that is a text":      slices.Equal(c.Errors.Code, []string{""}),
			"no ID":                        len(c.SMSSend.Response["id"]) == 0,
			"the reference as the ID":      c.SMSSend.IDIsReference(),
			"an amount with its currency":  len(c.SMSSend.Response["currency"]) == 0 && len(c.SMSList.Record["currency"]) == 0,
			"events in a parameter":        len(c.WebhookSMS.Events) > 0 && c.WebhookSMS.Events[0] != "",
			"constants by the encoding":    len(c.SMSSend.FieldConstants["unicode"]) > 0,
			"every element":                strings.Contains(strings.Join(c.SMSSend.Response["status"], ""), "*"),
			"rows of one kind":             len(c.SMSList.Only) > 0,
			"a variable":                   len(c.Variables()) > 0,
			"one page":                     c.SMSList.Paging.Whole,
			"a reply":                      c.WebhookSMS.Reply.Body != "",
			"events in a body of no event": len(c.WebhookSMS.Events) > 1 && c.WebhookSMS.Events[0] == "",
		} {
			if isDrawn {
				drawn[construct]++
			}
		}
	}
	require.Len(t, drawn, 13, "%v", drawn)
}
