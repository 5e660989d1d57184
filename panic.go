package messaging

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/messaging-service/messaging-go/internal/transport"
)

// panicError is a panic in user code during SendAll.
type panicError struct {
	value    any
	function string // that panicked, with file and line, or ""
}

// Error returns the type of the value, which may hold anything, or the text of an error of the runtime, and where the panic happened.
func (e *panicError) Error() string {
	text := fmt.Sprintf("panic (%T)", e.value)
	if r, ok := e.value.(runtime.Error); ok {
		text = "panic: " + r.Error()
	}
	if e.function != "" {
		text += " in " + e.function
	}
	return text
}

// Unwrap returns the value if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// panickingFunction returns the function that panicked, with its file and line. A deferred function calls it.
func panickingFunction() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
	isPanic := false
	for {
		frame, more := frames.Next()
		isRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if isPanic && !isRuntime {
			return fmt.Sprintf("%s (%s:%d)", frame.Function, filepath.Base(frame.File), frame.Line)
		}
		isPanic = isPanic || frame.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

// panicked returns the error of a send that a panic ended. maybeWritten reports whether something may have been written.
func panicked(e *sendEndpoint, value any, maybeWritten bool, referenceID string) *Error {
	return stopped(e, &panicError{value, panickingFunction()}, maybeWritten, referenceID)
}

// stopped returns the error of a send that user code ended for a cause, whose text is shown.
func stopped(e *sendEndpoint, cause error, maybeWritten bool, referenceID string) *Error {
	err := newError(&e.endpoint, transport.Outcome{Err: transport.NewError(cause.Error(), cause)})
	err.ReferenceID = referenceID
	if !maybeWritten {
		err.Verdict = NotSent
	}
	return err
}
