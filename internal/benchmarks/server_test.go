package main

import (
	"bytes"
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

// The server is another process: this program with the argument serve. It ends with its standard input.

// addresses are the base URLs of the server. Plain responds at once, Slow and Secure after serverWork. Secure speaks TLS.
type addresses struct {
	Plain, Slow, Secure string
	Certificate         string // the file with the certificate of Secure
}

// TestMain runs the server, or the tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		if err := serve(); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve is the main function of the server. It writes its addresses to standard output.
func serve() error {
	folder, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return err
	}
	err = json.NewEncoder(os.Stdout).Encode(listen(filepath.Join(folder, "certificate.pem")))
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return errors.Join(err, os.RemoveAll(folder))
}

// serverInput is the standard input of the server. The garbage collector would close it without this reference.
var serverInput io.Closer

// server returns the addresses of a server that ends with this process. The first call starts it. This process trusts its certificate.
var server = sync.OnceValue(func() addresses {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	process := exec.Command(program, "serve")
	process.Env = []string{}
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		panic(err)
	}
	serverInput, err = process.StdinPipe()
	if err != nil {
		panic(err)
	}
	err = process.Start()
	if err != nil {
		panic(err)
	}
	var found addresses
	err = json.NewDecoder(output).Decode(&found)
	if err != nil {
		panic(err)
	}
	err = os.Setenv("SSL_CERT_FILE", found.Certificate)
	if err != nil {
		panic(err)
	}
	return found
})

// serverWork is how long Slow and Secure take for a response.
const serverWork = 5 * time.Millisecond

// unreachable is the base URL of clients in memory.
const unreachable = "https://service.invalid"

// A route is a path with its response, which is JSON.
type route struct{ path, response string }

// body returns a file of testdata without white space: the response to a send, a row of a listing, or an event.
func body(file string) string {
	var compact bytes.Buffer
	text, err := os.ReadFile("testdata/" + file)
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		panic(err)
	}
	return compact.String()
}

// handler returns the handler for the requests of all contenders.
func handler() http.Handler {
	mux := http.NewServeMux()
	routes := []route{{smsPath, acceptedResponse}}
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

// listen serves on three ports of the loopback address, and writes the certificate into a file.
func listen(certificate string) addresses {
	fast := handler()
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(serverWork)
		fast.ServeHTTP(w, r)
	})
	secure := httptest.NewUnstartedServer(slow)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // clients may give up a connection in its handshake
	secure.StartTLS()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(certificate, block, 0o600); err != nil {
		panic(err)
	}
	return addresses{
		Plain:       httptest.NewServer(fast).URL,
		Slow:        httptest.NewServer(slow).URL,
		Secure:      secure.URL,
		Certificate: certificate,
	}
}

// inMemory is a transport that responds without a network. Its value is the body of each response.
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
