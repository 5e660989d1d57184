package doctor

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/randomcontract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

const seeds = 20

// answers are the sections of a contract that say where things stand in answers.
type answers struct {
	List struct {
		Record map[string][]string `json:"record,omitempty"`
		Page   map[string][]string `json:"page,omitempty"`
		Items  []string            `json:"items,omitempty"`
	} `json:"sms.list"`
	Send struct {
		Response map[string][]string `json:"response,omitempty"`
	} `json:"sms.send"`
}

// score compares the proposals of a report with the truth.
type score struct {
	mu             sync.Mutex
	renamed, found int
}

func (s *score) check(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d renamed members found", s.found, s.renamed)
	assert.Positive(t, s.renamed)
	assert.GreaterOrEqual(t, s.found*10, s.renamed*9, "%d of %d", s.found, s.renamed)
}

func (s *score) compare(t *testing.T, section string, truth, proposed, defaults map[string][]string, shares func(concept, name string) bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for concept, paths := range proposed {
		if paths != nil && len(paths)+len(truth[concept]) == 0 {
			continue // the service names no message, and that was found
		}
		if assert.NotEmpty(t, truth[concept], "%s.%s: a proposal for what is not there: %s", section, concept, paths) {
			assert.Contains(t, truth[concept], paths[0], "%s.%s: a false proposal", section, concept)
		}
	}
	for concept, paths := range truth {
		if len(paths) == 0 || slices.Contains(defaults[concept], paths[0]) || !shares(concept, paths[0]) {
			continue
		}
		s.renamed++
		if len(proposed[concept]) > 0 {
			s.found++
		} else {
			t.Logf("%s.%s: not found: %s", section, concept, paths[0])
		}
	}
}

// examine lets the doctor, which knows the default contract, look at a service that answers otherwise.
func examine(t *testing.T, truth answers, shares func(concept, name string) bool, total *score) {
	t.Helper()
	overlay, err := json.Marshal(truth)
	require.NoError(t, err)
	names := parseContract(t, string(overlay))
	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
	seedMessages(srv, 6)
	r := newRig(t, srv.URL, srv.Token)
	report := r.report("-send", "+639170000001", "-from", "ACME", "-yes")
	var found answers
	require.NoError(t, json.Unmarshal(report.Overlay, &found))
	defaults := contract.Default().Table()
	total.compare(t, "record", truth.List.Record, found.List.Record, defaults.SMSList.Record, shares)
	total.compare(t, "response", truth.Send.Response, found.Send.Response, defaults.SMSSend.Response, shares)
	total.compare(t, "page", truth.List.Page, found.List.Page, defaults.SMSList.Page, shares)
	if truth.List.Items != nil {
		assert.Equal(t, truth.List.Items[:1], found.List.Items, "items")
	}
}

// TestRenamedMembersAreFound examines services whose answers are those of random contracts: each name has the word of its concept.
func TestRenamedMembersAreFound(t *testing.T) {
	t.Parallel()
	var total score
	t.Cleanup(func() { total.check(t) })
	for seed := range uint64(seeds) {
		var truth answers
		require.NoError(t, json.Unmarshal(randomcontract.Overlay(seed+1), &truth))
		delete(truth.List.Page, "next") // a cursor, and the default pages by number
		if slices.Equal(truth.Send.Response["status"], []string{""}) {
			truth.Send.Response = nil // a text has no members
		}
		delete(truth.List.Record, "currency") // it may stand beside the price
		delete(truth.Send.Response, "currency")
		if slices.Equal(truth.Send.Response["id"], truth.Send.Response["reference"]) { // that the one is the other is not found out
			delete(truth.Send.Response, "reference")
			delete(truth.List.Record, "reference")
		}
		if slices.Contains(truth.List.Items, "") {
			truth.List.Items = []string{"rows"}
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			examine(t, truth, func(string, string) bool { return true }, &total)
		})
	}
}

// TestNothingFalseIsProposed examines services of which some names have the word of the concept, and others have nothing to do with
// it, or mislead.
func TestNothingFalseIsProposed(t *testing.T) {
	t.Parallel()
	var total score
	t.Cleanup(func() { total.check(t) })
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 1))
		defaults := contract.Default().Table()
		var truth answers
		shared := map[string]bool{}
		truth.List.Record = renamed(random, defaults.SMSList.Record, shared)
		truth.Send.Response = renamed(random, defaults.SMSSend.Response, shared)
		delete(truth.Send.Response, "status")
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			examine(t, truth, func(concept, name string) bool { return shared[concept+" "+name] }, &total)
		})
	}
}

// renamed returns names for the concepts of a section: some defaults, some with the words of the concept, and some without.
func renamed(random *rand.Rand, section map[string][]string, shared map[string]bool) map[string][]string {
	without := strings.Fields("zorp quux blip wibble frotz grault plugh xyzzy foobar lorem ipsum dolor amet")
	misleading := strings.Fields("userId account_name templateId orderNo parentGuid customerEmail ipAddress listVersion apiKeyHash campaignTitle ownerRef")
	random.Shuffle(len(without), func(i, j int) { without[i], without[j] = without[j], without[i] })
	random.Shuffle(len(misleading), func(i, j int) { misleading[i], misleading[j] = misleading[j], misleading[i] })
	names := map[string][]string{}
	for i, concept := range sortedConcepts(section) {
		switch random.IntN(6) {
		case 0: // the default
		case 1:
			names[concept] = []string{without[i%len(without)]}
			without[i%len(without)] += "2"
		case 2:
			names[concept] = []string{misleading[i%len(misleading)]}
			misleading[i%len(misleading)] += "2"
		default:
			name := decorated(random, concept)
			shared[concept+" "+name] = true
			names[concept] = []string{name}
		}
	}
	return names
}

// decorated returns a name with the words of a concept.
func decorated(random *rand.Rand, concept string) string {
	snake := strings.Builder{}
	for _, r := range concept {
		if 'A' <= r && r <= 'Z' {
			snake.WriteByte('_')
		}
		snake.WriteString(strings.ToLower(string(r)))
	}
	pascal := strings.ToUpper(concept[:1]) + concept[1:]
	all := []string{
		"sms_" + snake.String(), "message" + pascal, "msg" + pascal, strings.ToUpper("sms_" + snake.String()), "x-" + strings.ToLower(concept), "the" + pascal,
		"item." + concept + "Value", "details." + pascal,
	}
	return all[random.IntN(len(all))]
}

func sortedConcepts(section map[string][]string) []string {
	var all []string
	for concept := range section {
		all = append(all, concept)
	}
	slices.Sort(all)
	return all
}

// TestNothingContradictsTrueContract examines services of random contracts with these contracts.
func TestNothingContradictsTrueContract(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			overlay := string(randomcontract.Overlay(seed + 1))
			names := parseContract(t, overlay)
			srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
			seedMessagesAs(srv, 6, strings.TrimSuffix(names.Table().WebhookDelivery.Statuses["delivered"][0], "*"))
			srv.RefuseDuplicates(true)
			r := newRig(t, srv.URL, srv.Token)
			r.overlayFile(overlay)
			status, out, progress := r.run("-send", "+639170000001", "-from", "ACME", "-yes")
			assert.Equal(t, statusOK, status, "%s%s", out, progress)
		})
	}
}
