package messaging

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
)

// isFresh reports whether nothing shows that a response is not the service's own of now: a status other than 200, a cache, or a Date from
// long before the request. A response that is not fresh says what was listed before.
func isFresh(out transport.Outcome) bool {
	const clocksDiffer = 5 * time.Minute
	date, err := http.ParseTime(out.Header.Get("Date"))
	return out.StatusCode == http.StatusOK && !isCached(out) && (err != nil || !date.Before(out.Began.Add(-clocksDiffer)))
}

// isCached reports whether a response came from a cache: a header says so, or it is older than its request.
func isCached(out transport.Outcome) bool {
	const rounding = 2 * time.Second
	if age := out.Header.Get("Age"); age != "" {
		seconds, err := strconv.ParseUint(age, 10, 32)
		if err != nil || time.Duration(seconds)*time.Second > time.Since(out.Began)+rounding {
			return true
		}
	}
	for name, values := range out.Header {
		name = http.CanonicalHeaderKey(name)
		if slices.ContainsFunc(values, func(value string) bool { return isFromCache(name, value) }) {
			return true
		}
	}
	return false
}

// isFromCache reports whether a header says that the response came from a cache. The name is in canonical form.
func isFromCache(name, value string) bool {
	isCache := (strings.Contains(name, "Cache") || strings.Contains(name, "cache")) && !strings.HasSuffix(name, "-Control")
	switch {
	case name == "Warning":
		return strings.HasPrefix(value, "1") // of a cache; others begin with 2
	case name == "X-Varnish":
		return len(strings.Fields(value)) > 1 // the second ID is of the request that filled the cache
	case name == "X-From-Cache":
		return true // what a caching http.RoundTripper sets
	case name == "Server-Timing":
		return slices.ContainsFunc(strings.Split(strings.ToLower(value), ","), func(metric string) bool {
			return strings.Contains(metric, "cache") && saysHit(metric)
		})
	case name == "Cache-Status":
		return slices.ContainsFunc(strings.Split(strings.ToLower(value), ","), isCacheStatusHit)
	case isCache && (strings.HasSuffix(name, "Hits") || strings.HasSuffix(name, "hits")): // one number for each cache
		return slices.ContainsFunc(strings.Split(value, ","), func(hits string) bool {
			n, err := strconv.Atoi(strings.TrimSpace(hits))
			return err != nil || n > 0
		})
	default:
		return isCache && saysHit(value)
	}
}

// isCacheStatusHit reports whether one cache of a Cache-Status (RFC 9211) says that it had the response. What stands behind fwd says why
// the request was forwarded, such as fwd=stale, and the response is then from the service.
func isCacheStatusHit(status string) bool {
	name, parameters, ok := strings.Cut(status, ";")
	if !ok {
		return saysHit(name)
	}
	return slices.ContainsFunc(strings.Split(parameters, ";"), func(parameter string) bool {
		return !strings.HasPrefix(strings.TrimSpace(parameter), "fwd=") && saysHit(parameter)
	})
}

// saysHit reports whether a word of a text says that a cache had the response: TCP_HIT, RefreshHit, STALE.
func saysHit(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool {
		return strings.HasSuffix(word, "hit") || strings.HasPrefix(word, "stale") || word == "updating"
	})
}
