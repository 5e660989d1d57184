package sandbox

import (
	"cmp"
	"errors"
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
	RefuseClosed     bool              `json:"refuseClosed"` // free-form messages of chat app 2 to recipients who have not written for 24 hours
	ListingLag       string            `json:"listingLag"`
	Webhooks         map[string]string `json:"webhooks"` // without secrets
	WebhookForm      string            `json:"webhookForm"`
}

// settings returns what is set. The caller holds mu.
func (s *Sandbox) settings() Settings {
	now := Settings{
		Clock: s.now(), Advanced: s.advanced.String(), Balance: s.service.Balance(), RefuseDuplicates: s.duplicate, RefuseClosed: s.closed,
		ListingLag: s.lag.String(), Webhooks: map[string]string{}, WebhookForm: s.form,
	}
	for channel, target := range s.webhooks {
		if target != "" {
			now.Webhooks[string(channel)] = s.mask.with(target, nil).url(target)
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

// settingsBody is what changes. What is nil stays.
type settingsBody struct {
	Balance          *string           `json:"balance,omitempty"`
	RefuseDuplicates *bool             `json:"refuseDuplicates,omitempty"`
	RefuseClosed     *bool             `json:"refuseClosed,omitempty"`
	ListingLag       *string           `json:"listingLag,omitempty"`
	Webhooks         map[string]string `json:"webhooks,omitempty"`
	WebhookForm      *string           `json:"webhookForm,omitempty"`
}

// everySetting returns the body that sets what is set now. The caller holds mu.
func (s *Sandbox) everySetting() settingsBody {
	body := settingsBody{new(s.service.Balance()), &s.duplicate, &s.closed, new(s.lag.String()), map[string]string{}, &s.form}
	for channel, target := range s.webhooks {
		body.Webhooks[string(channel)] = target
	}
	return body
}

func (s *Sandbox) patchSettings(_ *request, body settingsBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.set(body); err != nil {
		return nil, err
	}
	s.note("PATCH settings", body)
	s.live.notify("")
	return s.settings(), nil
}

// set changes settings, all of them or none. A webhook that is named as it is shown is taken out of the body. The caller holds mu.
func (s *Sandbox) set(body settingsBody) error {
	lag, err := parseDuration("listingLag", *cmp.Or(body.ListingLag, new("")))
	switch {
	case err != nil || lag < 0 || lag > maxAdvance:
		return errors.New("listingLag must be a duration of at least zero, such as 30s")
	case body.Balance != nil && !isBalance(*body.Balance):
		return errors.New("balance must be a number of at least zero with at most two decimals, such as 12.50")
	case body.WebhookForm != nil && !slices.Contains([]string{formQuery, formForm, formJSON}, *body.WebhookForm):
		return errors.New("webhookForm must be query, form or json")
	}
	for channel, target := range body.Webhooks {
		now := s.webhooks[messagingtest.Channel(channel)]
		switch {
		case !slices.Contains(channels(), messagingtest.Channel(channel)) || target != "" && webURL(target) == "" || len(target) > maxURL:
			return errors.New("webhooks must hold http or https URLs of up to 4 KiB for " + channelNames())
		case strings.Contains(target, masked) && target == s.mask.with(now, nil).url(now):
			delete(body.Webhooks, channel) // as it was shown, so it stays
		case strings.Contains(target, masked):
			return errors.New("the URL of the webhook has " + masked + " in place of a secret: write the whole URL")
		}
	}
	if body.Balance != nil {
		s.service.SetBalance(*body.Balance)
	}
	if body.RefuseDuplicates != nil {
		s.duplicate = *body.RefuseDuplicates
		s.service.RefuseDuplicates(s.duplicate)
	}
	if body.RefuseClosed != nil {
		s.closed = *body.RefuseClosed
		s.service.SetWindow(map[bool]time.Duration{true: chatWindow}[s.closed])
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
	return nil
}
