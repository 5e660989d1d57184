package messaging

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// errNotNow is the class of a message that the platform takes on another day.
var errNotNow = errors.New("messaging: not now")

// A platformClass is the meaning of an error code of the platform behind chat app 2.
type platformClass uint8

// The classes of the platform's codes. The zero value is a code without a class.
const (
	_                       platformClass = iota
	platformRate                          // too many requests of the account
	platformRateOfRecipient               // too many messages to this recipient
	platformAccount                       // the account is blocked, or its token has expired
	platformPayment                       // the account cannot pay
	platformOptedOut                      // the recipient stopped marketing
	platformNotNow                        // the platform holds marketing back from this recipient for a day
	platformUnreachable                   // the recipient has no account, or an app that is too old
	platformTemplate                      // the template or its parameters are wrong
	platformWindow                        // the recipient has not written within 24 hours
)

// platformClassOf returns the class of a code, or zero.
func platformClassOf(code string) platformClass {
	const templateCodes, codeLength = "132", 6
	switch code {
	case "4", "80007", "130429", "131048":
		return platformRate
	case "131056":
		return platformRateOfRecipient
	case "190", "368", "131031":
		return platformAccount
	case "131042":
		return platformPayment
	case "131050":
		return platformOptedOut
	case "130472", "131049":
		return platformNotNow
	case "131026":
		return platformUnreachable
	case "131047":
		return platformWindow
	}
	if strings.HasPrefix(code, templateCodes) && len(code) == codeLength {
		return platformTemplate
	}
	return 0
}

// sentinel returns the error that an error of the class matches, or nil.
func (p platformClass) sentinel() error {
	switch p {
	case platformRate, platformRateOfRecipient:
		return ErrRateLimited
	case platformAccount:
		return ErrUnauthorized
	case platformPayment:
		return ErrInsufficientBalance
	case platformOptedOut:
		return ErrOptedOut
	case platformNotNow:
		return errNotNow
	case platformUnreachable:
		return ErrUnreachable
	case platformTemplate:
		return ErrInvalid
	case platformWindow:
		return ErrWindowClosed
	default:
		return nil
	}
}

// retryAfter returns how long to wait before the message may be sent again, or 0 if the class has no wait of its own.
func (p platformClass) retryAfter() time.Duration {
	switch p {
	case platformRateOfRecipient:
		return 6 * time.Second
	case platformNotNow:
		return 24 * time.Hour
	default:
		return 0
	}
}

// isOfRecipient reports whether a code is about this recipient alone, and not about the rate of the account.
func (p platformClass) isOfRecipient() bool {
	return p == platformRateOfRecipient || p == platformNotNow
}

// addPlatform adds the meaning of a platform's code to a judgement, unless the contract has a class for the code. The code is read in two places:
//
//   - Where the contract says. A short code does not count there, because it may be a code of the service with another meaning.
//   - In an error in the platform's own form, wherever the contract says that codes are.
func (j *judgement) addPlatform(channel Channel, out *transport.Outcome) {
	if channel != ChannelChatApp2 || j.response.Class != "" {
		return
	}
	if !isShortCode(j.response.Code) {
		j.platform = platformClassOf(j.response.Code)
	}
	isClean := isSuccess(out.StatusCode) && j.response.Reason == ""
	if j.platform == 0 && !isClean {
		j.platform = platformClassOf(platformCode(out.Body))
	}
	if j.platform == 0 {
		return
	}
	j.response.FromService = true
	isProof := j.response.Claim != codec.Contradictory && !j.response.NamesMessage()
	if isProof {
		j.response.Claim = codec.Refuses
	}
}

// isShortCode reports whether a code, such as 4 or 190, does not show by itself that it is the platform's.
func isShortCode(code string) bool {
	const shortestOwn = len("80007")
	return len(code) < shortestOwn
}

// platformCode returns the code in an error in the form of the platform, or "".
func platformCode(body []byte) string {
	var response struct {
		Error struct {
			Code json.RawMessage `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &response); err != nil {
		return ""
	}
	code, _ := jsonscan.Word(response.Error.Code)
	return code
}

// addPlatform adds the meaning of a platform's code to an error. The longer wait counts: that of the class, or the one that the service asked
// for.
func (e *Error) addPlatform(class platformClass) {
	e.platform = class
	if sentinel := class.sentinel(); sentinel != nil {
		e.classes = []error{sentinel}
		e.byCode = true
	}
	if wait := class.retryAfter(); wait > e.RetryAfter {
		e.RetryAfter = wait
		e.localWait = true
	}
}
