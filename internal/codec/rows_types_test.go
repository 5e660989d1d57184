package codec

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A field of a row may be of any of these types, which no field of sms.Transaction need be today.
func TestRowFieldTypes(t *testing.T) {
	t.Parallel()
	r := &rowReader{rows: &rows{op: &table.List{}, zone: time.UTC}}
	minutes := &rowReader{rows: &rows{op: &table.List{Read: table.Read{Operation: table.Operation{Duration: "m"}}}, zone: time.UTC}}
	var got time.Duration
	assert.Empty(t, minutes.set(&column{}, &got, "90"))
	assert.Equal(t, 90*time.Minute, got)
	const unknown = "is in no known form"
	tooLong := strconv.FormatInt(math.MaxInt64/int64(time.Second)+1, 10)
	for word, want := range map[string]time.Duration{"90": 90 * time.Second, "9e1": 90 * time.Second, "": 0} {
		var got time.Duration
		assert.Empty(t, r.set(&column{}, &got, word))
		assert.Equal(t, want, got)
	}
	for _, word := range []string{"-1", "1.5", "1m", tooLong} {
		got := time.Hour
		assert.Equal(t, unknown, r.set(&column{}, &got, word), word)
		assert.Equal(t, time.Hour, got, "not touched")
	}
	for word, want := range map[string]int{"3": 3, "3.0": 3, "2147483647": 1<<31 - 1, "": 0} {
		var got int
		assert.Empty(t, r.set(&column{}, &got, word))
		assert.Equal(t, want, got)
	}
	for _, word := range []string{"-1", "1.5", "9223372036854775808", "1e19", "-1e19", "NaN", "Inf"} {
		got := 1
		assert.Equal(t, unknown, r.set(&column{}, &got, word), word)
		assert.Equal(t, 1, got, "not touched")
	}
	for word, want := range map[string]bool{"true": true, "TRUE": true, "1": true, "false": false, "0": false} {
		got := !want
		assert.Empty(t, r.set(&column{isFlag: true}, &got, word), word)
		assert.Equal(t, want, got, word)
	}
	flag := true
	assert.Equal(t, unknown, r.set(&column{isFlag: true}, &flag, "maybe"))
	assert.True(t, flag, "not touched")
}
