package sandbox

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Settings can be changed while the sandbox runs, except the clock.
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

// Webhook returns the URL that gets answers by a channel.
func (s Settings) Webhook(channel string) string { return s.Webhooks[channel] }

// copySettings returns a copy of the settings, with secrets and without the clock.
func (st *sandboxState) copySettings() Settings {
	current := st.settings
	current.Balance = st.service.Balance()
	current.Webhooks = maps.Clone(st.settings.Webhooks)
	return current
}

// maskedSettings returns the settings for the page and the API, with secrets masked.
func (st *sandboxState) maskedSettings() Settings {
	result := st.copySettings()
	result.Clock = st.now()
	result.Advanced = st.advanced.String()
	maps.DeleteFunc(result.Webhooks, func(_ string, target string) bool { return target == "" })
	for channel, target := range result.Webhooks {
		result.Webhooks[channel] = st.maskedURL(target)
	}
	return result
}

func (c *core) maskedURL(target string) string { return c.mask.forURL(target, nil).url(target) }

func (s *Sandbox) readSettings() Settings {
	st := s.lock()
	defer st.unlock()
	return st.maskedSettings()
}

var balancePattern = regexp.MustCompile(`^\d{1,12}(\.\d{1,2})?$`)

func isBalance(text string) bool { return balancePattern.MatchString(text) }

// patchSettings changes the settings that the body names.
func (s *Sandbox) patchSettings(r *request) (any, error) {
	st := s.lock()
	defer st.unlock()
	next := st.copySettings()
	if err := r.decode(&next); err != nil {
		return nil, err
	}
	if err := st.unmaskWebhooks(next.Webhooks); err != nil {
		return nil, err
	}
	if err := st.apply(next); err != nil {
		return nil, err
	}
	s.live.notify("")
	return st.maskedSettings(), nil
}

// unmaskWebhooks replaces a URL with masked secrets, as the page shows it, by the URL that is set.
func (st *sandboxState) unmaskWebhooks(webhooks map[string]string) error {
	for channel, target := range webhooks {
		if !strings.Contains(target, masked) {
			continue
		}
		current := st.settings.Webhooks[channel]
		if target != st.maskedURL(current) {
			return errors.New("the URL of the webhook has " + masked + " in place of a secret: write the whole URL")
		}
		webhooks[channel] = current
	}
	return nil
}

// apply validates and sets all settings, or none.
func (st *sandboxState) apply(next Settings) error {
	lag, err := parseDuration("listingLag", next.ListingLag, maxAdvance)
	if err != nil {
		return err
	}
	if !next.Clock.IsZero() || next.Advanced != "" {
		return errors.New("the clock is not a setting: POST clock advances it")
	}
	balance := st.service.Balance()
	if next.Balance != balance && !isBalance(next.Balance) {
		return errors.New("balance must be a number of at least zero with at most two decimals, such as 12.50")
	}
	if !slices.Contains([]string{formContract, formForm, formJSON}, next.WebhookForm) {
		return errors.New("webhookForm must be contract, form or json")
	}
	webhooks, err := parseWebhooks(next.Webhooks)
	if err != nil {
		return err
	}
	if next.Balance != balance { // messages that are sent meanwhile reduce it
		st.service.SetBalance(next.Balance)
	}
	st.service.RefuseDuplicates(next.RefuseDuplicates)
	st.service.SetLag(lag)
	var window time.Duration // accept everything
	if next.RefuseClosed {
		window = chatWindow
	}
	st.service.SetWindow(window)
	next.ListingLag = lag.String()
	next.Webhooks = webhooks
	st.settings = next
	return nil
}

// parseWebhooks returns the webhooks with complete URLs.
func parseWebhooks(webhooks map[string]string) (map[string]string, error) {
	if webhooks == nil {
		return nil, errors.New("webhooks must not be null")
	}
	parsed := map[string]string{}
	for channel, target := range webhooks {
		hook := webhookURL(target)
		isUsable := target == "" || hook != ""
		if channelName(channel) == "" || !isUsable || len(target) > maxURL {
			return nil, errors.New("webhooks must hold addresses such as localhost:8080/hooks, or http or https URLs, of up to 4 KiB, for " + channelNames())
		}
		parsed[channel] = hook
	}
	return parsed, nil
}

// webhookURL returns the URL of a webhook, or "". An address without a scheme, such as localhost:8080/hook, means http. Its host must have
// a port or a dot, or be localhost: other texts may be paths.
func webhookURL(address string) string {
	address = strings.TrimSpace(address)
	if strings.Contains(address, "://") {
		return webURL(address)
	}
	host, _, _ := strings.Cut(address, "/")
	if host != "localhost" && !strings.ContainsAny(host, ".:") {
		return ""
	}
	return webURL("http://" + address)
}
