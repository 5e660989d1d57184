package sms_test

import (
	"fmt"

	"github.com/messaging-service/messaging-go/sms"
)

func ExampleCount() {
	for _, text := range []string{
		"Your order is ready. Pay 12 € at the counter.",
		"Your order is ready – pay 12 € at the counter. We are open until 20:00, and until 18:00 on weekends.",
	} {
		s := sms.Count(text)
		fmt.Printf("%d × %v, %d units, %d free\n", s.Segments, s.Encoding, s.Units, s.Remaining)
		for _, c := range s.NotGSM7 {
			fmt.Printf("  %q at character %d, byte %d\n", c.Rune, c.Position, c.Offset)
		}
	}
	// Output:
	// 1 × GSM-7, 46 units, 114 free
	// 2 × UCS-2, 100 units, 34 free
	//   '–' at character 20, byte 20
}
