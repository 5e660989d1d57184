// Package mount shows how the handlers of package webhook are mounted in routers: in http.ServeMux, chi, gin and echo. Each
// function mounts one handler behind a secret in the path, which the service calls as /hooks/SECRET/sms.
//
// It is a module of its own, so that no user of the library has those routers in its graph.
package mount

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/messaging-service/messaging-go/webhook"
)

// Handle is what a program does with a message.
type Handle = func(context.Context, webhook.SMSMessage) error

// ServeMux mounts the handler in the standard library's router.
func ServeMux(handle Handle, secret string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", webhook.SMS(handle, webhook.WithPathSecret("key", secret)))
	return mux
}

// Chi mounts the handler in chi, which sets the path values of a request by itself.
func Chi(handle Handle, secret string) http.Handler {
	router := chi.NewRouter()
	router.Handle("/hooks/{key}/sms", webhook.SMS(handle, webhook.WithPathSecret("key", secret)))
	return router
}

// Gin mounts the handler in gin, whose path parameters have to be handed on.
func Gin(handle Handle, secret string) http.Handler {
	router := gin.New()
	hook := webhook.SMS(handle, webhook.WithPathSecret("key", secret))
	router.Any("/hooks/:key/sms", func(c *gin.Context) {
		c.Request.SetPathValue("key", c.Param("key"))
		hook.ServeHTTP(c.Writer, c.Request)
	})
	return router
}

// Echo mounts the handler in echo, whose path parameters have to be handed on.
func Echo(handle Handle, secret string) http.Handler {
	router := echo.New()
	hook := webhook.SMS(handle, webhook.WithPathSecret("key", secret))
	router.Any("/hooks/:key/sms", func(c echo.Context) error {
		c.Request().SetPathValue("key", c.Param("key"))
		hook.ServeHTTP(c.Response(), c.Request())
		return nil
	})
	return router
}
