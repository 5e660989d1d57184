// Package mount mounts a handler of package webhook in four routers: http.ServeMux, chi, gin and echo. The handler asks for a
// secret in the path, so the service calls /hooks/SECRET/sms.
//
// It is a module of its own, to keep the routers out of the module graph of the library.
package mount

import (
	"context"
	"net/http"
	"path"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/messaging-service/messaging-go/webhook"
)

// Handle is what a program does with a message.
type Handle = func(context.Context, webhook.SMSMessage) error

// NewHandler returns the handler that the functions below mount.
func NewHandler(handle Handle, secret string) (http.Handler, error) {
	hooks, err := webhook.NewReceiver(webhook.WithPathSecret("key", secret))
	if err != nil {
		return nil, err
	}
	return hooks.SMS(handle), nil
}

// ServeMux mounts the handler in the router of the standard library. A path that is not clean is refused first: http.ServeMux
// redirects it, and the body of the redirect repeats secret and query.
func ServeMux(hook http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hook)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Chi mounts the handler in chi, which sets path values by itself.
func Chi(hook http.Handler) http.Handler {
	router := chi.NewRouter()
	router.Handle("/hooks/{key}/sms", hook)
	return router
}

// Gin mounts the handler in gin, whose path parameters must be passed on.
func Gin(hook http.Handler) http.Handler {
	router := gin.New()
	router.Any("/hooks/:key/sms", func(c *gin.Context) {
		c.Request.SetPathValue("key", c.Param("key"))
		hook.ServeHTTP(c.Writer, c.Request)
	})
	return router
}

// Echo mounts the handler in echo, whose path parameters must be passed on.
func Echo(hook http.Handler) http.Handler {
	router := echo.New()
	router.Any("/hooks/:key/sms", func(c echo.Context) error {
		c.Request().SetPathValue("key", c.Param("key"))
		hook.ServeHTTP(c.Response(), c.Request())
		return nil
	})
	return router
}
