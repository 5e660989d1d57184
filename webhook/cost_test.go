package webhook_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// Reading takes time in proportion to the length of a query, whatever it repeats.
func TestCostOfRepeatedParameters(t *testing.T) {
	const secret = "QZ5JEWNTJ4W5SXPJ"
	rcv := hooks(webhook.WithSecret("key", secret), webhook.WithLimits(1<<20, 1<<20))
	cost := func(one string, size int) time.Duration {
		r := get("key=" + secret + "&from=1&" + strings.Repeat(one, size/len(one)))
		began := time.Now()
		_, _, err := rcv.ParseChatApp2(r)
		require.NoError(t, err)
		return time.Since(began)
	}
	for _, one := range []string{
		`payload={"a":1}&`, `payload=[{"a":1}]&`, `payload={"a":1&`, `message={"a":1}&`, `payload={%22a":1,&`, "payload=" + url.QueryEscape(`{"a":1}`) + "&",
		"message=" + url.QueryEscape(`{"type":"text","from":"1","id":"2","text":{"body":"a"}}`) + "&", `a="%22&`,
	} {
		small, large := time.Hour, time.Hour
		for round := range 300 { // the machine may be busy with something else, but not each time
			small, large = min(small, cost(one, 16<<10)), min(large, cost(one, 64<<10))
			if round >= 10 && large <= mostCost*small {
				break
			}
		}
		assert.LessOrEqual(t, large, mostCost*small, one)
	}
}

// What comes behind the last parameter that counts is not read at all.
func TestReadingStopsAtTheLimitOfParameters(t *testing.T) {
	rcv := hooks(webhook.WithLimits(256, 64<<10))
	allocations := func(size int) float64 {
		r := get(strings.Repeat("payload="+url.QueryEscape(`{"a":1}`)+"&", size))
		return testing.AllocsPerRun(20, func() {
			_, _, err := rcv.ParseChatApp2(r)
			require.ErrorIs(t, err, webhook.ErrTooManyParams)
		})
	}
	assert.InDelta(t, allocations(257), allocations(2000), 1)
	assert.Equal(t, http.StatusRequestURITooLong, call(t, rcv.ChatApp2(new(inbox[webhook.ChatMessage]).handle), get(strings.Repeat("a=b&", 2000))).Code)
}
