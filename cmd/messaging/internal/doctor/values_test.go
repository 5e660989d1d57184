package doctor

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestValuesDecideWhatNamesSuggest has rows in which a name misleads, and the values say what is meant: a state of which no word is one of a
// status, beside one that has such words; an amount with its currency; and numbers as tel URLs.
func TestValuesDecideWhatNamesSuggest(t *testing.T) {
	t.Parallel()
	f := numberFake()
	row := f.row
	f.row = func(m fakeMessage) any {
		all := row(m).(object)
		delete(all, "status")
		all["state"], all["deliveryCode"] = "NY", map[string]string{"A": "DELIVRD", "B": "UNDELIV", "C": "ENROUTE"}[m.state]
		all["billing"] = object{"total": "PHP 0.4500", "credits": 3}
		all["sms"].(object)["recipient"] = "tel:+" + m.to
		return all
	}
	_, _, report, _ := examinedInto(t, f)
	record := parseContract(t, string(report.Overlay)).Table().SMSList.Record
	assert.Equal(t, "deliveryCode", record["deliveryStatus"][0])
	assert.NotContains(t, record["deliveryStatus"], "state")
	assert.NotContains(t, record["sendStatus"], "state")
	assert.Equal(t, "billing.total", record["price"][0])
	assert.Equal(t, "sms.recipient", record["to"][0])
}

// TestStatusWithoutKnownWordIsNotProposed has rows whose only state is of another kind.
func TestStatusWithoutKnownWordIsNotProposed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(rows(
		`{"id": "m1", "referenceId": "r1", "to": "639170000001", "dateCreated": "2026-10-03T14:44:23Z", "state": "NY"}`,
		`{"id": "m2", "referenceId": "r2", "to": "639170000002", "dateCreated": "2026-10-03T14:44:29Z", "state": "CA"}`,
	))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "token")
	report := r.report()
	assert.Empty(t, r.check(report, "listing", "deliveryStatus").Overlay)
	assert.Empty(t, r.check(report, "listing", "sendStatus").Overlay)
}

// TestUniqueMemberIsTheFirstCandidate has a member of few values under the better name.
func TestUniqueMemberIsTheFirstCandidate(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(rows(
		`{"id": "m1", "correlation": "a-1", "messageRef": "1", "to": "639170000001", "dateCreated": "2026-10-03T14:44:23Z"}`,
		`{"id": "m2", "correlation": "a-2", "messageRef": "1", "to": "639170000002", "dateCreated": "2026-10-03T14:44:29Z"}`,
	))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "token")
	assert.Contains(t, r.check(r.report(), "listing", "reference").Detail, "could be correlation, messageRef")
}

// TestSmallPagesAreNoContradiction examines, by the overlay that fits it, a service with at most 10 rows on a page, whatever is asked for.
func TestSmallPagesAreNoContradiction(t *testing.T) {
	t.Parallel()
	f := numberFake()
	f.largest = 10
	f.seed()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "secret-token-1")
	r.overlayFile(f.truth)
	report := r.report()
	for name, section := range map[string]string{"createdAfter": "filters", "createdBefore": "filters", "pages": "page", "size": "page", "total": "page", "number": "page"} {
		c := r.check(report, section, name)
		assert.Equal(t, OK, c.Result, "%+v", c)
	}
	assert.JSONEq(t, f.truth, string(report.Overlay))
}
