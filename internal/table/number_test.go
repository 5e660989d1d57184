package table

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "",
		"+639171234567":                    "+639171234567",
		"tel:+639171234567":                "+639171234567",
		"TEL:09171234567":                  "09171234567",
		" tel: +63 917 ":                   "+63 917",
		"tel:+63-917-1;ext=7;isub=1":       "+63-917-1",
		"tel:21580;phone-context=+63":      "21580",
		"tel:":                             "tel:",
		"telephone":                        "telephone",
		"ACME":                             "ACME",
		"call tel:+639171234567":           "call tel:+639171234567",
		" +639171234567 ":                  " +639171234567 ",
		"mailto:a@b.example;tel:+63917123": "mailto:a@b.example;tel:+63917123",
	} {
		assert.Equal(t, want, Number(text), text)
	}
}
