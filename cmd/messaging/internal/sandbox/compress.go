package sandbox

import (
	"compress/gzip"
	"net/http"
	"strings"
)

// compressed compresses the pages and the API for clients that accept it. The service and streams of events pass as they are.
func compressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, Root) || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Header.Get("Range") != "" {
			next.ServeHTTP(w, r)
			return
		}
		z := &zipper{ResponseWriter: w}
		defer z.end()
		next.ServeHTTP(z, r)
	})
}

// zipper compresses a response if it is text that ends.
type zipper struct {
	http.ResponseWriter
	gzip   *gzip.Writer
	header bool
}

// Unwrap returns the writer below, for [http.ResponseController].
func (z *zipper) Unwrap() http.ResponseWriter { return z.ResponseWriter }

// WriteHeader decides by the content type.
func (z *zipper) WriteHeader(status int) {
	if z.header {
		return
	}
	z.header = true
	kind, _, _ := strings.Cut(z.Header().Get("Content-Type"), ";")
	switch kind {
	case "text/html", "text/css", "text/javascript", "application/json", "image/svg+xml":
		z.Header().Del("Content-Length")
		z.Header().Set("Content-Encoding", "gzip")
		z.Header().Add("Vary", "Accept-Encoding")
		z.gzip = gzip.NewWriter(z.ResponseWriter)
	}
	z.ResponseWriter.WriteHeader(status)
}

func (z *zipper) Write(p []byte) (int, error) {
	z.WriteHeader(http.StatusOK)
	if z.gzip == nil {
		return z.ResponseWriter.Write(p)
	}
	return z.gzip.Write(p)
}

// end writes what is still to be written. A client that has gone is no concern.
func (z *zipper) end() {
	if z.gzip != nil {
		_ = z.gzip.Close()
	}
}
