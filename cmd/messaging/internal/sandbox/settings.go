package sandbox

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// Settings are what can be set while the sandbox runs.
type Settings struct {
	Clock            time.Time         `json:"clock"`
	Advanced         string            `json:"advanced"`
	Balance          string            `json:"balance"`
	RefuseDuplicates bool              `json:"refuseDuplicates"`
	ListingLag       string            `json:"listingLag"`
	Webhooks         map[string]string `json:"webhooks"` // without secrets
	WebhookForm      string            `json:"webhookForm"`
}

// settings returns what is set. The caller holds mu.
func (s *Sandbox) settings() Settings {
	now := Settings{
		Clock: s.now(), Advanced: s.advanced.String(), Balance: s.service.Balance(),
		RefuseDuplicates: s.duplicate, ListingLag: s.lag.String(), Webhooks: map[string]string{},
		WebhookForm: s.form,
	}
	for channel, target := range s.webhooks {
		if target != "" {
			now.Webhooks[string(channel)] = s.maskedWebhook(channel)
		}
	}
	return now
}

func (s *Sandbox) readSettings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings()
}

func isBalance(text string) bool {
	return regexp.MustCompile(`^\d{1,12}(\.\d{1,2})?$`).MatchString(text)
}

type settingsBody struct {
	Balance          *string           `json:"balance"`
	RefuseDuplicates *bool             `json:"refuseDuplicates"`
	ListingLag       *string           `json:"listingLag"`
	Webhooks         map[string]string `json:"webhooks"`
	WebhookForm      *string           `json:"webhookForm"`
}

func (s *Sandbox) patchSettings(_ *http.Request, body settingsBody) (any, error) {
	var lag time.Duration
	if body.ListingLag != nil {
		d, err := time.ParseDuration(*body.ListingLag)
		if err != nil || d < 0 || d > maxAdvance {
			return nil, errors.New("listingLag must be a duration of at least zero, such as 30s")
		}
		lag = d
	}
	if body.Balance != nil && !isBalance(*body.Balance) {
		return nil, errors.New("balance must be a number of at least zero with at most two decimals, such as 12.50")
	}
	if body.WebhookForm != nil && !slices.Contains([]string{formQuery, formForm, formJSON}, *body.WebhookForm) {
		return nil, errors.New("webhookForm must be query, form or json")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for channel, target := range body.Webhooks {
		c := messagingtest.Channel(channel)
		switch {
		case channelName(c) == "" || target != "" && webURL(target) == "" || len(target) > maxURL:
			return nil, errors.New("webhooks must hold http or https URLs of up to 4 KiB for " + channelNames())
		case strings.Contains(target, masked) && target == s.maskedWebhook(c):
			delete(body.Webhooks, channel) // as it was shown, so it stays
		case strings.Contains(target, masked):
			return nil, errors.New("the URL of the webhook has " + masked + " in place of a secret: write the whole URL")
		}
	}
	if body.Balance != nil {
		s.service.SetBalance(*body.Balance)
	}
	if body.RefuseDuplicates != nil {
		s.duplicate = *body.RefuseDuplicates
		s.service.RefuseDuplicates(s.duplicate)
	}
	if body.ListingLag != nil {
		s.lag = lag
		s.service.SetLag(lag)
	}
	if body.WebhookForm != nil {
		s.form = *body.WebhookForm
	}
	for channel, target := range body.Webhooks {
		s.webhooks[messagingtest.Channel(channel)] = target
	}
	s.storeState()
	s.live.notify(aboutFaults | aboutMessages)
	return s.settings(), nil
}

// maskedWebhook returns the URL of a webhook as it is shown. The caller holds mu.
func (s *Sandbox) maskedWebhook(channel messagingtest.Channel) string {
	target := s.webhooks[channel]
	return s.mask.url(target, secretsOf(target, nil).names)
}
