package mount_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/mount"
	"github.com/messaging-service/messaging-go/webhook"
)

func TestRouters(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode) // it prints its routes otherwise
	for name, build := range map[string]func(http.Handler) http.Handler{
		"ServeMux": mount.ServeMux, "chi": mount.Chi, "gin": mount.Gin, "echo": mount.Echo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []webhook.SMSMessage
			hook, err := mount.NewHandler(func(_ context.Context, m webhook.SMSMessage) error {
				got = append(got, m)
				return nil
			}, "s3cret")
			require.NoError(t, err)
			router := build(hook)
			for target, want := range map[string]struct {
				method string
				status int
			}{
				"/hooks/s3cret/sms?from=639171234567&to=21581&message=50%+off":   {http.MethodGet, http.StatusOK},
				"/hooks/wrong/sms?from=639171234567&to=21581&message=Hi":         {http.MethodGet, http.StatusNotFound},
				"/hooks/s3cret/sms?to=21581&message=Hi":                          {http.MethodGet, http.StatusBadRequest},
				"/hooks/s3cret/sms?from=639171234567&to=21581&message=by+a+POST": {http.MethodPost, http.StatusMethodNotAllowed},
			} {
				w := httptest.NewRecorder()
				router.ServeHTTP(w, httptest.NewRequest(want.method, target, nil))
				assert.Equal(t, want.status, w.Code, target)
				assert.Equal(t, "no-store", w.Header().Get("Cache-Control"), target)
				assert.Empty(t, w.Body.String(), target)
			}
			require.Len(t, got, 1)
			assert.Equal(t, "50% off", got[0].Text)

			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "//hooks/s3cret/sms?from=639171234567&message=Hi", nil))
			assert.NotContains(t, w.Body.String(), "639171234567", "a redirect repeats the query")
		})
	}
}
