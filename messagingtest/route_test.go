package messagingtest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	of := func(name, members string) string {
		return two(members + `"type":"template","template":{"name":"` + name + `","language":{"code":"en"}}`)
	}
	const strict, fallBack = `"product_policy":"STRICT",`, `"product_policy":"CLOUD_API_FALLBACK",`
	for name, tc := range map[string]struct {
		body      string
		available bool
		category  Category // empty: refused
		route     Route
	}{
		"marketing":                         {of("sale", ""), true, CategoryMarketing, RouteMarketingMessages},
		"marketing, told to fall back":      {of("sale", fallBack), true, CategoryMarketing, RouteMarketingMessages},
		"marketing, strict":                 {of("sale", strict), true, CategoryMarketing, RouteMarketingMessages},
		"marketing, no route":               {of("sale", ""), false, CategoryMarketing, RouteCloud},
		"marketing, no route, to fall back": {of("sale", fallBack), false, CategoryMarketing, RouteCloud},
		"marketing, no route, strict":       {of("sale", strict), false, "", ""},
		"utility":                           {of("ready", ""), true, CategoryUtility, RouteCloud},
		"utility, no route, strict":         {of("ready", strict), false, CategoryUtility, RouteCloud},
		"authentication":                    {of("code", ""), true, CategoryAuthentication, RouteCloud},
		"registered anew":                   {of("moved", ""), true, CategoryUtility, RouteCloud},
		"not registered":                    {of("unknown", ""), true, CategoryUtility, RouteCloud},
		"named otherwise in the body":       {of("sale", `"category":"utility",`), true, CategoryMarketing, RouteMarketingMessages},
		"free-form":                         {two(`"text":{"body":"Hi"}`), true, CategoryService, RouteCloud},
		"free-form, no route, strict":       {two(strict + `"text":{"body":"Hi"}`), false, CategoryService, RouteCloud},
		"free-form of a category": {
			two(`"category":"authentication","text":{"body":"Hi"}`), true, CategoryAuthentication, RouteCloud,
		},
		"a type that is not known": {goodChatApp2["hologram"], true, CategoryService, RouteCloud},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			s.RegisterTemplate("sale", CategoryMarketing)
			s.RegisterTemplate("ready", CategoryUtility)
			s.RegisterTemplate("code", CategoryAuthentication)
			s.RegisterTemplate("moved", CategoryMarketing)
			s.RegisterTemplate("moved", CategoryUtility)
			s.SetMarketingRoute(tc.available)
			s.Reset() // which forgets nothing of that
			s.SetDelivery("639171234567", DeliveryFailed())
			r := sendTo(t, newClient(t), s, chatApp2, with(tc.body, chatFallback))
			require.NoError(t, r.err)
			if tc.category == "" {
				assert.Equal(t, http.StatusBadRequest, r.status)
				assert.Equal(t, codeRoute, r.code(t))
				assert.Empty(t, s.Sent(), "not even the fallback")
				assert.Equal(t, "1000000.00", s.Balance())
				return
			}
			require.Equal(t, http.StatusOK, r.status, "%s", r.body)
			sent := s.Sent()
			require.Len(t, sent, 2)
			assert.Equal(t, tc.category, sent[0].Category)
			assert.Equal(t, tc.route, sent[0].Route)
			assert.Empty(t, sent[1].Category)
			assert.Empty(t, sent[1].Route)
		})
	}
}

func TestRouteIsFixedWhenSent(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	body := template(`{"name":"sale","language":{"code":"en"}}`)
	sendOne := func() { require.Equal(t, http.StatusOK, sendTo(t, client, s, chatApp2, body).status) }
	sendOne()
	s.RegisterTemplate("sale", CategoryMarketing)
	sendOne()
	s.SetMarketingRoute(false)
	sendOne()
	s.SetMarketingRoute(true)
	sendOne()
	var routes []Route
	for _, m := range s.Sent() {
		routes = append(routes, m.Route)
	}
	assert.Equal(t, []Route{RouteCloud, RouteMarketingMessages, RouteCloud, RouteMarketingMessages}, routes)
}

func TestRouteOfOtherChannels(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.RegisterTemplate("t-1", CategoryMarketing)
	sendTo(t, client, s, chatApp1, goodChatApp1["template"]).data(t)
	send(t, client, s, goodBody).data(t)
	for _, m := range s.Sent() {
		assert.Empty(t, m.Route)
		assert.Empty(t, m.Category)
	}
}

func TestRegisterTemplateRefusesMisuse(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for _, misuse := range []func(){
		func() { s.RegisterTemplate("", CategoryUtility) },
		func() { s.RegisterTemplate("t", CategoryService) },
		func() { s.RegisterTemplate("t", "") },
		func() { s.RegisterTemplate("t", "MARKETING") },
	} {
		assert.Panics(t, misuse)
	}
}
