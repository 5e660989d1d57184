package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/examples/scaleout/outbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// secureServer is a server that requires a certificate and credentials of every client.
type secureServer struct {
	t         *testing.T
	directory string
	account   nkeys.KeyPair
	server    *server.Server
}

func startSecure(t *testing.T) *secureServer {
	t.Helper()
	s := &secureServer{t: t, directory: t.TempDir()}
	s.certificates()
	operator, system := s.keyPair(nkeys.CreateOperator), s.keyPair(nkeys.CreateAccount)
	s.account = s.keyPair(nkeys.CreateAccount)
	operatorClaims := jwt.NewOperatorClaims(s.public(operator))
	operatorClaims.SystemAccount = s.public(system)
	resolver := &server.MemAccResolver{}
	for _, account := range []nkeys.KeyPair{system, s.account} {
		claims := jwt.NewAccountClaims(s.public(account))
		if account == s.account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: jwt.NoLimit, MemoryStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
		}
		token, err := claims.Encode(operator)
		require.NoError(t, err)
		require.NoError(t, resolver.Store(s.public(account), token))
	}
	certificate, err := tls.LoadX509KeyPair(s.path("server.pem"), s.path("server-key.pem"))
	require.NoError(t, err)
	pool := x509.NewCertPool()
	authority, err := os.ReadFile(s.path("ca.pem"))
	require.NoError(t, err)
	require.True(t, pool.AppendCertsFromPEM(authority))
	s.server, err = server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: s.path("data"), NoSigs: true,
		TrustedOperators: []*jwt.OperatorClaims{operatorClaims}, SystemAccount: s.public(system), AccountResolver: resolver,
		TLS: true, TLSVerify: true, TLSTimeout: 10,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
	})
	require.NoError(t, err)
	s.server.Start()
	t.Cleanup(func() {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	})
	require.True(t, s.server.ReadyForConnections(10*time.Second))
	return s
}

func (s *secureServer) path(name string) string { return filepath.Join(s.directory, name) }

func (s *secureServer) keyPair(create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	s.t.Helper()
	pair, err := create()
	require.NoError(s.t, err)
	return pair
}

func (s *secureServer) public(pair nkeys.KeyPair) string {
	s.t.Helper()
	key, err := pair.PublicKey()
	require.NoError(s.t, err)
	return key
}

// certificates writes the certificates of an authority, a server and a client.
func (s *secureServer) certificates() {
	s.t.Helper()
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(s.t, err)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	for i, name := range []string{"ca", "server", "client"} {
		key, template := authorityKey, authority
		if i > 0 {
			key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			require.NoError(s.t, err)
			template = &x509.Certificate{
				SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: name}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
				IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			}
		}
		der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, authorityKey)
		require.NoError(s.t, err)
		encoded, err := x509.MarshalECPrivateKey(key)
		require.NoError(s.t, err)
		s.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		s.write(name+"-key.pem", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}))
	}
}

func (s *secureServer) write(name string, data []byte) {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path(name), data, 0o600))
}

// user writes the credentials file of a user and returns the options to connect as that user.
func (s *secureServer) user(name string, publish, subscribe []string) engine.Options {
	s.t.Helper()
	pair := s.keyPair(nkeys.CreateUser)
	claims := jwt.NewUserClaims(s.public(pair))
	claims.Pub.Allow.Add(publish...)
	claims.Sub.Allow.Add(subscribe...)
	token, err := claims.Encode(s.account)
	require.NoError(s.t, err)
	seed, err := pair.Seed()
	require.NoError(s.t, err)
	credentials, err := jwt.FormatUserConfig(token, seed)
	require.NoError(s.t, err)
	s.write(name+".creds", credentials)
	return engine.Options{
		URL: s.server.ClientURL(), Environment: "prod", Credentials: s.path(name + ".creds"), CA: s.path("ca.pem"),
		Certificate: s.path("client.pem"), Key: s.path("client-key.pem"), Timeout: 5 * time.Second,
		Logger: slog.New(slog.NewTextHandler(s.t.Output(), nil)),
	}
}

// permissions returns the subjects that OPERATING.md lists.
func permissions(t *testing.T) (publish, subscribe []string) {
	t.Helper()
	page, err := os.ReadFile("../OPERATING.md")
	require.NoError(t, err)
	_, block, ok := strings.Cut(string(page), "```\npublish:\n")
	require.True(t, ok)
	block, _, _ = strings.Cut(block, "```")
	first, second, ok := strings.Cut(block, "subscribe:\n")
	require.True(t, ok)
	return strings.Fields(first), strings.Fields(second)
}

func TestEverythingRunsWithLeastPrivilegeOverTLS(t *testing.T) {
	s := startSecure(t)
	for name, change := range map[string]func(*engine.Options){
		"credentials": func(o *engine.Options) { o.Credentials = "" },
		"authority":   func(o *engine.Options) { o.CA = "" },
		"certificate": func(o *engine.Options) { o.Certificate, o.Key = "", "" },
	} {
		options := s.user("nobody", nil, nil)
		change(&options)
		_, err := engine.Connect(t.Context(), options)
		require.Error(t, err, "connected without its %s", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	operator := connect(t, s.user("operator", []string{"$JS.API.>"}, []string{"_INBOX.>"}))
	require.NoError(t, operator.Prepare(ctx, engine.Setup{}))
	publish, subscribe := permissions(t)
	c := connect(t, s.user("worker", publish, subscribe))
	short, cancelShort := context.WithTimeout(ctx, time.Second)
	defer cancelShort()
	assert.Error(t, c.Prepare(short, engine.Setup{AckWait: time.Minute}), "the user can do more than it needs")

	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	o, err := outbox.Open(ctx, c)
	require.NoError(t, err)
	service.Inject(messagingtest.AcceptThenDrop(), 1) // with a lookup
	for _, reference := range []string{"1", "2"} {
		m, err := outbox.NewMessage(sms.Message{From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: reference}, outbox.Options{})
		require.NoError(t, err)
		_, err = o.Put(ctx, m)
		require.NoError(t, err)
	}
	require.NoError(t, o.SetRate(ctx, 100))
	worker, err := o.NewWorker(client, outbox.WorkerOptions{})
	require.NoError(t, err)
	workerCtx, stop := context.WithCancel(ctx)
	defer stop()
	result := make(chan error, 1)
	go func() { result <- worker.Run(workerCtx) }()
	require.NoError(t, o.Watch(ctx, 10*time.Millisecond, func(status outbox.Status) bool { return status.Messages[outbox.Accepted] < 2 }))
	stop()
	require.NoError(t, <-result)
	status, err := o.Status(ctx)
	require.NoError(t, err)
	assert.Contains(t, status.String(), "2 accepted; ")
	_, err = o.Reconcile(ctx)
	require.NoError(t, err)
	require.ErrorIs(t, o.Resolve(ctx, outbox.SMS, "1", outbox.Resend, ""), outbox.ErrNotResolvable)
	_, rows, err := o.Audit(ctx, client, time.Now().Add(-time.Hour), false, func(f outbox.Finding) { assert.Fail(t, f.Problem) })
	require.NoError(t, err)
	assert.Equal(t, 2, rows)

	publisher, err := inbox.NewPublisher(ctx, c)
	require.NoError(t, err)
	store, err := inbox.NewStore(ctx, c, 0)
	require.NoError(t, err)
	for range 2 { // the second time it is there
		require.NoError(t, publisher.SMS(ctx, webhook.SMSMessage{ID: "in-1", From: "1"}))
		require.NoError(t, store.Once(ctx, "in-1", func(context.Context) error { return nil }))
	}
	readCtx, stopReading := context.WithCancel(ctx)
	require.NoError(t, inbox.Read(readCtx, c, inbox.ReadOptions{Name: "reader"}, func(context.Context, inbox.Event) error {
		stopReading()
		return nil
	}))
	_, err = inbox.ReadParked(ctx, c, "reader", nil)
	require.NoError(t, err)
}
