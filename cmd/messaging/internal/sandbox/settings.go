package sandbox

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Settings are what can be set while the sandbox runs, and the clock.
type Settings struct {
	Clock            time.Time `json:"clock,omitzero"`
	Advanced         string    `json:"advanced,omitempty"`
	Balance          string    `json:"balance"`
	RefuseDuplicates bool      `json:"refuseDuplicates"`
	// RefuseClosed refuses free-form messages of chat app 2 to recipients who have not written for 24 hours.
	RefuseClosed bool              `json:"refuseClosed"`
	ListingLag   string            `json:"listingLag"`
	Webhooks     map[string]string `json:"webhooks"`
	WebhookForm  string            `json:"webhookForm"`
}

// Webhook returns the URL that answers by a channel go to.
func (s Settings) Webhook(channel string) string { return s.Webhooks[channel] }

// current returns a copy of what is set, with secrets and without the clock. The caller holds mu.
func (s *Sandbox) current() Settings {
	now := s.set
	now.Balance, now.Webhooks = s.service.Balance(), maps.Clone(s.set.Webhooks)
	return now
}

// settings returns what is set, as the page and the API show it. The caller holds mu.
func (s *Sandbox) settings() Settings {
	now := s.current()
	now.Clock, now.Advanced = s.now(), s.advanced.String()
	maps.DeleteFunc(now.Webhooks, func(_ string, target string) bool { return target == "" })
	for channel, target := range now.Webhooks {
		now.Webhooks[channel] = s.mask.with(target, nil).url(target)
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

// patchSettings changes settings, all of them or none. What the body does not name stays, and so does a webhook that it names as it is
// shown.
func (s *Sandbox) patchSettings(r *request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, next := s.current(), s.current()
	if err := r.decode(&next); err != nil {
		return nil, err
	}
	lag, err := parseDuration("listingLag", next.ListingLag, maxAdvance)
	switch {
	case next.Webhooks == nil:
		return nil, errors.New("webhooks must not be null")
	case !next.Clock.IsZero() || next.Advanced != "":
		return nil, errors.New("the clock is not set here: POST clock advances it")
	case err != nil:
		return nil, err
	case next.Balance != now.Balance && !isBalance(next.Balance):
		return nil, errors.New("balance must be a number of at least zero with at most two decimals, such as 12.50")
	case !slices.Contains([]string{formQuery, formForm, formJSON}, next.WebhookForm):
		return nil, errors.New("webhookForm must be query, form or json")
	}
	for channel, target := range next.Webhooks {
		was := now.Webhooks[channel]
		hook := webhookURL(target)
		isUsable := target == "" || hook != ""
		switch {
		case channelName(channel) == "" || !isUsable || len(target) > maxURL:
			return nil, errors.New("webhooks must hold addresses such as localhost:8080/hooks, or http or https URLs, of up to 4 KiB, for " + channelNames())
		case strings.Contains(target, masked) && target == s.mask.with(was, nil).url(was):
			next.Webhooks[channel] = was
		case strings.Contains(target, masked):
			return nil, errors.New("the URL of the webhook has " + masked + " in place of a secret: write the whole URL")
		case target != "":
			next.Webhooks[channel] = hook
		}
	}
	if next.Balance != now.Balance { // messages that are sent meanwhile take from it
		s.service.SetBalance(next.Balance)
	}
	s.service.RefuseDuplicates(next.RefuseDuplicates)
	s.service.SetWindow(map[bool]time.Duration{true: chatWindow}[next.RefuseClosed])
	s.service.SetLag(lag)
	next.ListingLag = lag.String()
	s.set = next
	s.note("PATCH settings", s.current())
	s.live.notify("")
	return s.settings(), nil
}
