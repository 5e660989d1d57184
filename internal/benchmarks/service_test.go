package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// service says where the server listens. Plain responds at once, Slow and Secure after serverWork. Secure speaks TLS; Certificate is
// the file of its certificate.
type service struct{ Plain, Slow, Secure, Certificate string }

// TestMain lets the program start itself as the server, which ends with its standard input.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		folder, err := os.MkdirTemp("", "benchmarks")
		if err != nil {
			panic(err)
		}
		if err = json.NewEncoder(os.Stdout).Encode(startService(filepath.Join(folder, "certificate.pem"))); err == nil {
			_, err = io.Copy(io.Discard, os.Stdin)
		}
		if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// untilTheEnd is the standard input of the server. It is held here, because it is closed when nothing refers to it.
var untilTheEnd io.Closer

// served returns the service of a server process, which is started once and ends with this one. This process trusts its certificate.
var served = sync.OnceValue(func() service {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	server := exec.Command(program, "serve")
	server.Env, server.Stderr = []string{}, os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if untilTheEnd, err = server.StdinPipe(); err != nil {
		panic(err)
	}
	if err = server.Start(); err != nil {
		panic(err)
	}
	var at service
	if err = json.NewDecoder(out).Decode(&at); err != nil {
		panic(err)
	}
	if err = os.Setenv("SSL_CERT_FILE", at.Certificate); err != nil {
		panic(err)
	}
	return at
})

// serverWork is how long the slow servers take for a response.
const serverWork = 5 * time.Millisecond

// unreachable is the base URL of a service in memory.
const unreachable = "https://service.invalid"

// route is a path with its one response, which is JSON.
type route struct{ path, response string }

// handler responds to every request of a contender.
func handler() http.Handler {
	mux := http.NewServeMux()
	routes := []route{accepted(smsPath)}
	for _, p := range peers() {
		routes = append(routes, p.route)
	}
	for _, r := range routes {
		mux.HandleFunc(r.path, func(w http.ResponseWriter, req *http.Request) {
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return // the client has gone
			}
			w.Header()["Content-Type"] = []string{jsonType}
			w.Header()["Content-Length"] = []string{strconv.Itoa(len(r.response))}
			_, _ = io.WriteString(w, r.response)
		})
	}
	pages := smsPages(slowPages, slowRows)
	mux.HandleFunc(listPath, func(w http.ResponseWriter, req *http.Request) {
		number, err := strconv.Atoi(req.URL.Query().Get("pageNumber"))
		if err != nil || number < 1 || number > len(pages) {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Content-Length", strconv.Itoa(len(pages[number-1])))
		_, _ = w.Write(pages[number-1])
	})
	return mux
}

// startService listens on three ports of the loopback address, and writes the certificate into a file.
func startService(certificate string) service {
	fast := handler()
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(serverWork)
		fast.ServeHTTP(w, r)
	})
	secure := httptest.NewUnstartedServer(slow)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // a client that gives up a connection while it is being made is no error here
	secure.StartTLS()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(certificate, block, 0o600); err != nil {
		panic(err)
	}
	return service{httptest.NewServer(fast).URL, httptest.NewServer(slow).URL, secure.URL, certificate}
}

// inMemory responds without a network, so that what is measured is the client's own work.
type inMemory string

// RoundTrip implements http.RoundTripper.
func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		if err := r.Body.Close(); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {jsonType}},
		Body: io.NopCloser(strings.NewReader(string(m))), ContentLength: int64(len(m)), Request: r,
	}, nil
}
