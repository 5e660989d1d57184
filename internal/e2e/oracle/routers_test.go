package oracle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// TestRouters mounts a handler that asks for a secret in the path under other routers, as docs/webhooks.md has it.
func TestRouters(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode) // it prints its routes otherwise
	for name, mount := range map[string]func(hook http.Handler) http.Handler{
		"chi": func(hook http.Handler) http.Handler {
			router := chi.NewRouter()
			router.Handle("/hooks/{key}/sms", hook) // it sets path values by itself
			return router
		},
		"gin": func(hook http.Handler) http.Handler {
			router := gin.New()
			router.Any("/hooks/:key/sms", func(c *gin.Context) {
				c.Request.SetPathValue("key", c.Param("key"))
				gin.WrapH(hook)(c)
			})
			return router
		},
		"echo": func(hook http.Handler) http.Handler {
			router := echo.New()
			router.Any("/hooks/:key/sms", func(c echo.Context) error {
				c.Request().SetPathValue("key", c.Param("key"))
				return echo.WrapHandler(hook)(c)
			})
			return router
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var texts []string
			hooks, err := webhook.NewReceiver(webhook.WithPathSecret("key", "s3cret-of-16-chars"))
			require.NoError(t, err)
			router := mount(hooks.SMS(func(_ context.Context, m webhook.SMSMessage) error {
				texts = append(texts, m.Text)
				return nil
			}))
			for target, want := range map[string]struct {
				method string
				status int
			}{
				"/hooks/s3cret-of-16-chars/sms?from=639171234567&to=21581&message=50%+off":   {http.MethodGet, http.StatusOK},
				"/hooks/wrong/sms?from=639171234567&to=21581&message=Hi":                     {http.MethodGet, http.StatusNotFound},
				"/hooks/s3cret-of-16-chars/sms?to=21581&message=Hi":                          {http.MethodGet, http.StatusBadRequest},
				"/hooks/s3cret-of-16-chars/sms?from=639171234567&to=21581&message=by+a+POST": {http.MethodPost, http.StatusMethodNotAllowed},
			} {
				w := httptest.NewRecorder()
				router.ServeHTTP(w, httptest.NewRequest(want.method, target, nil))
				assert.Equal(t, want.status, w.Code, target)
				assert.Equal(t, "no-store", w.Header().Get("Cache-Control"), target)
				assert.Empty(t, w.Body.String(), target)
			}
			assert.Equal(t, []string{"50% off"}, texts)

			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "//hooks/s3cret-of-16-chars/sms?from=639171234567&message=Hi", nil))
			assert.NotContains(t, w.Body.String(), "639171234567", "a redirect repeats the query")
		})
	}
}
