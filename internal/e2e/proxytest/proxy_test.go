package proxytest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// A protocol is spoken between the client and a proxy.
type protocol int

const (
	plain protocol = iota // HTTP/1.1, over the library's own transport
	tls1                  // HTTP/1.1 over TLS
	tls2                  // HTTP/2
)

func (p protocol) String() string { return [...]string{"HTTP/1", "HTTP/1 over TLS", "HTTP/2"}[p] }

// A proxy is a process in front of an origin.
type proxy struct {
	t         *testing.T
	name      string
	command   func() *exec.Cmd
	address   string
	url       string // where the client sends
	options   []messaging.Option
	process   *exec.Cmd
	upstreams []string // more than the one that newProxy gets
	outside   string   // more configuration of nginx, outside of the server
	within    string   // more configuration, within the location of nginx or the backend of haproxy
	reload    func()   // makes the process read its configuration again, as an operator would
}

// newProxy starts a proxy in front of an address. http2 says that the upstream also speaks HTTP/2 without TLS.
func newProxy(t *testing.T, kind string, p protocol, upstream string, http2 bool) *proxy {
	t.Helper()
	front := &proxy{t: t, name: kind, address: freeAddress(t)}
	front.url = "http://" + front.address
	if p != plain {
		front.url = "https://" + front.address
		front.options = []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: transport(t, p == tls2)})}
	}
	switch kind {
	case "nginx":
		front.nginx(p, upstream)
	case "haproxy":
		front.haproxy(p, upstream, http2 && p == tls2)
	case "squid":
		front.squid(upstream)
	default:
		require.FailNow(t, "no such proxy", kind)
	}
	front.start()
	t.Cleanup(front.kill)
	return front
}

func (f *proxy) start() {
	f.process = f.command()
	var out bytes.Buffer
	f.process.Stdout, f.process.Stderr = &out, &out
	f.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(f.t, f.process.Start())
	defer func() {
		if f.t.Failed() {
			f.t.Log(out.String())
		}
	}()
	waitForListener(f.t, f.address)
}

// signal signals the proxy and its workers.
func (f *proxy) signal(s syscall.Signal) { _ = syscall.Kill(-f.process.Process.Pid, s) }

func (f *proxy) kill() {
	f.signal(syscall.SIGKILL)
	_ = f.process.Wait()
}

// file writes a file for the process and returns its path.
func (f *proxy) file(name, text string) string {
	path := filepath.Join(f.t.TempDir(), name)
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// nginx sets the command of nginx and its configuration.
func (f *proxy) nginx(p protocol, upstream string) {
	dir := f.t.TempDir()
	listen := f.address
	if p != plain {
		listen += " ssl"
	}
	if p == tls2 {
		listen += " http2"
	}
	cert := certificate()
	config := f.file("nginx.conf", fmt.Sprintf(`
worker_processes 1;
daemon off;
user root;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 512; }
http {
	access_log off;
	client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
	upstream origin { server %[3]s; keepalive 16; }
	%[6]s
	server {
		listen %[2]s;
		ssl_certificate %[4]s;
		ssl_certificate_key %[5]s;
		keepalive_requests 100;
		location / {
			proxy_pass http://origin;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_read_timeout 1s;
			%[7]s
		}
	}
}
`, dir, listen, strings.Join(append(f.upstreams, upstream), "; server "), cert.certFile(f), cert.keyFile(f), f.outside, f.within))
	f.command = func() *exec.Cmd { return exec.Command("nginx", "-c", config, "-e", dir+"/error.log") }
	f.reload = func() { _ = f.process.Process.Signal(syscall.SIGHUP) }
}

// haproxy sets the command of haproxy and its configuration.
func (f *proxy) haproxy(p protocol, upstream string, http2 bool) {
	bind := f.address
	if p != plain {
		bind += " ssl crt " + f.file("both.pem", certificate().cert+certificate().key) + " alpn "
		bind += map[protocol]string{tls1: "http/1.1", tls2: "h2"}[p]
	}
	server := upstream
	if http2 {
		server += " proto h2"
	}
	config := f.file("haproxy.cfg", fmt.Sprintf(`
global
	maxconn 512
	hard-stop-after 3s
defaults
	mode http
	timeout connect 1s
	timeout client 10s
	timeout server 1s
	timeout http-request 5s
frontend in
	bind %s
	default_backend origin
backend origin
	%s
	server one %s
`, bind, f.within, server))
	f.command = func() *exec.Cmd { return exec.Command("haproxy", "-W", "-f", config) }
	f.reload = func() { _ = f.process.Process.Signal(syscall.SIGUSR2) }
}

// squid sets the command of squid and its configuration. It is a forward proxy: the client sends to the address of the origin, through it.
func (f *proxy) squid(upstream string) {
	dir, err := os.MkdirTemp("", "squid") // squid changes its user, who cannot read the folders of TempDir
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(f.t, os.Chmod(dir, 0o777))
	config := filepath.Join(dir, "squid.conf")
	require.NoError(f.t, os.WriteFile(config, fmt.Appendf(nil, `
http_port %[2]s
http_access allow all
cache deny all
pid_filename %[1]s/pid
cache_log %[1]s/cache.log
access_log none
netdb_filename none
coredump_dir %[1]s
cache_effective_user proxy
shutdown_lifetime 1 seconds
read_timeout 2 seconds
`, dir, f.address), 0o644))
	f.command = func() *exec.Cmd {
		// A squid that is killed leaves its shared memory behind, under this name.
		name := "p" + strings.ToLower(rand.Text()[:12])
		f.t.Cleanup(func() {
			left, _ := filepath.Glob("/dev/shm/" + name + "*")
			for _, file := range left {
				_ = os.Remove(file)
			}
		})
		return exec.Command("squid", "-N", "-n", name, "-f", config)
	}
	f.reload = func() { _ = f.process.Process.Signal(syscall.SIGHUP) }
	f.url = "http://" + upstream
	through := transport(f.t, false)
	through.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: f.address})
	f.options = []messaging.Option{messaging.WithHTTPClient(&http.Client{Transport: through})}
}

// A toxic is a toxiproxy in front of an address, in this process.
type toxic struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

func newToxic(t *testing.T, upstream string) *toxic {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "origin", freeAddress(t), upstream)
	require.NoError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	waitForListener(t, proxy.Listen)
	return &toxic{t, proxy}
}

// add adds a toxic in JSON, such as {"type": "latency", "attributes": {"latency": 100}}.
func (x *toxic) add(toxic string) {
	_, err := x.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
	require.NoError(x.t, err)
}

func (x *toxic) remove() { x.proxy.Toxics.ResetToxics(x.t.Context()) }

func (x *toxic) restart(after time.Duration) {
	x.proxy.Stop()
	time.Sleep(after)
	require.NoError(x.t, x.proxy.Start())
}

// identity is the certificate of the proxies.
type identity struct {
	cert, key string
	pool      *x509.CertPool
}

func (i *identity) certFile(f *proxy) string { return f.file("cert.pem", i.cert) }
func (i *identity) keyFile(f *proxy) string  { return f.file("key.pem", i.key) }

var certificate = sync.OnceValue(func() *identity {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "proxy"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err)
	}
	made := &identity{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})),
		pool: x509.NewCertPool(),
	}
	made.pool.AppendCertsFromPEM([]byte(made.cert))
	return made
})
