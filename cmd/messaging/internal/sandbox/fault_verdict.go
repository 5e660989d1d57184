package sandbox

import (
	"net/http"
	"slices"
)

// The verdicts of the client.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictUnknown  = "unknown"
)

// verdict returns the verdict of a correct client for a send with the fault, or "" if the response decides.
func (f *faultRule) verdict() string {
	switch {
	case f.kind.Verdict == verdictUnknown:
		return verdictUnknown
	case f.Fault == "page":
		return verdictOfPage(f.Status)
	case f.Status != 0:
		return verdictOfError(f.Status)
	default:
		return ""
	}
}

// verdictOfPage returns the verdict for a page with an HTTP status: it refuses only if a server sends the status before it processes a request.
func verdictOfPage(status int) string {
	beforeProcessing := []int{
		http.StatusProxyAuthRequired, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusExpectationFailed, http.StatusMisdirectedRequest, http.StatusRequestHeaderFieldsTooLarge,
	}
	if slices.Contains(beforeProcessing, status) {
		return verdictRefused
	}
	return verdictUnknown
}

// verdictOfError returns the verdict for an error of the service with an HTTP status. With a success, the code in the body refuses; a response
// without a body, or with a part of one, says nothing.
func verdictOfError(status int) string {
	hasBody := status != http.StatusNoContent && status != http.StatusPartialContent
	if status/100 == 2 && hasBody {
		return verdictRefused
	}
	return verdictOf(status)
}

// verdictOf returns the verdict of a correct client for the status of a response to a send.
func verdictOf(status int) string {
	const lastRefusal = 498 // 499 is from a proxy whose client went away
	switch {
	case status == http.StatusOK:
		return verdictAccepted
	case status >= 400 && status <= lastRefusal && status != http.StatusRequestTimeout:
		return verdictRefused
	default:
		return verdictUnknown
	}
}
