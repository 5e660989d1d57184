package sandbox

import (
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// The channels, by their names in the contract.
const (
	channelSMS      = "sms"
	channelChatApp1 = "chatapp1"
	channelChatApp2 = "chatapp2"
)

func channelName(c string) string {
	channel, _ := table.ChannelNamed(c)
	return channel.Title
}

// channelNames lists the channels for an error: "sms" "chatapp1" …
func channelNames() string { return strings.Trim(fmt.Sprintf("%q", channels()), "[]") }

// channels returns the names of the channels.
func channels() (names []string) {
	for _, c := range table.Channels() {
		names = append(names, c.Name)
	}
	return names
}
