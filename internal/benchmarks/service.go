package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// service says where the server listens.
type service struct {
	// Plain responds at once, Slow after serverWork, both over plain HTTP.
	Plain, Slow string
	// Secure responds after serverWork, over TLS and HTTP/1.1, with the Certificate, which is PEM. Multiplexed is the same over
	// HTTP/2.
	Secure, Multiplexed string
	Certificate         []byte
}

// serverWork is how long the slow servers take for a response.
const serverWork = 5 * time.Millisecond

// route is a path with its one response.
type route struct {
	path        string
	contentType string // application/json where empty
	response    string
}

func (r route) header() http.Header {
	contentType := r.contentType
	if contentType == "" {
		contentType = "application/json"
	}
	return http.Header{"Content-Type": {contentType}}
}

// routes are those of this library and of every peer.
func routes() []route {
	all := []route{smsRoute(), chatApp1Route(), chatApp2Route()}
	for _, p := range peers() {
		all = append(all, p.route)
	}
	return all
}

// handler responds to every request of a contender.
func handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes() {
		header, response := r.header(), []byte(r.response)
		mux.HandleFunc(r.path, func(w http.ResponseWriter, req *http.Request) {
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return // the client has gone
			}
			w.Header()["Content-Type"] = header["Content-Type"]
			w.Header()["Content-Length"] = []string{strconv.Itoa(len(response))}
			_, _ = w.Write(response)
		})
	}
	pages := smsPages(slowPages, slowRows)
	mux.HandleFunc(listPath, func(w http.ResponseWriter, req *http.Request) {
		number, err := strconv.Atoi(req.URL.Query().Get("pageNumber"))
		if err != nil || number < 1 || number > len(pages) {
			http.Error(w, "no such page", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(pages[number-1])))
		_, _ = w.Write(pages[number-1])
	})
	return mux
}

// startService listens on four ports of the loopback address until the context ends.
func startService(ctx context.Context) (service, error) {
	certificate, pemBytes, err := selfSigned()
	if err != nil {
		return service{}, err
	}
	at := service{Certificate: pemBytes}
	fast := handler()
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(serverWork)
		fast.ServeHTTP(w, r)
	})
	for _, one := range []struct {
		address *string
		scheme  string
		handler http.Handler
		http2   bool
	}{{&at.Plain, "http", fast, false}, {&at.Slow, "http", slow, false}, {&at.Secure, "https", slow, false}, {&at.Multiplexed, "https", slow, true}} {
		var config net.ListenConfig
		listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return service{}, err
		}
		*one.address = one.scheme + "://" + listener.Addr().String()
		protocols := new(http.Protocols)
		protocols.SetHTTP1(!one.http2)
		protocols.SetHTTP2(one.http2)
		server := &http.Server{
			Handler: one.handler, ReadHeaderTimeout: time.Minute, Protocols: protocols,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
			ErrorLog:  log.New(io.Discard, "", 0), // clients that give a connection up while it is being made are no error here
		}
		context.AfterFunc(ctx, func() { _ = server.Close() })
		go func() {
			serve := server.Serve
			if one.scheme == "https" {
				serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
			}
			if err := serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
				panic(err) // nothing can be measured without it
			}
		}()
	}
	return at, nil
}

// selfSigned makes a certificate for the loopback address.
func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// inMemory responds without a network, so that what is measured is the client's own work.
type inMemory struct {
	header   http.Header
	response string
}

func responding(r route) inMemory { return inMemory{r.header(), r.response} }

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
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": m.header["Content-Type"]},
		Body:   io.NopCloser(strings.NewReader(m.response)), ContentLength: int64(len(m.response)), Request: r,
	}, nil
}
