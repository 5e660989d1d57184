// Package embedded runs NATS servers with JetStream in this process, for tests and for a campaign on one machine.
package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a NATS server with JetStream in this process.
type Server struct {
	nats     *server.Server
	password string
}

// user is the only user of a server.
const user = "campaign"

// Start starts a server on a loopback port that stores its data in a directory. Port 0 selects a free port. Data that is already in the
// directory is available again. Clients need the password that [Server.URL] returns: it is random and kept in the directory, so that
// clients can connect again after a restart. The caller closes the server.
func Start(directory string, port int) (*Server, error) {
	if port == 0 {
		port = server.RANDOM_PORT
	}
	password, err := passwordOf(directory)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return start(&server.Options{ServerName: "embedded", Port: port, JetStream: true, StoreDir: directory, Password: password})
}

// passwordOf returns the password of a directory, which it creates if necessary.
func passwordOf(directory string) (string, error) {
	name := filepath.Join(directory, "password")
	password, err := os.ReadFile(name) //nolint:gosec // the caller names the directory
	if err == nil && len(password) > 0 {
		return string(password), nil
	}
	if err = os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	text := rand.Text()
	return text, os.WriteFile(name, []byte(text), 0o600)
}

func start(options *server.Options) (*Server, error) {
	options.Host, options.Username, options.NoSigs = "127.0.0.1", user, true
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, errors.New("embedded: the server was not ready after 10 s")
	}
	return &Server{nats: s, password: options.Password}, nil
}

// URL returns the URL for clients, with user and password.
func (s *Server) URL() string {
	at := url.URL{Scheme: "nats", User: url.UserPassword(user, s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port()))}
	return at.String()
}

// Port returns the port on which the server listens.
func (s *Server) Port() int {
	address, ok := s.nats.Addr().(*net.TCPAddr)
	if !ok {
		return 0
	}
	return address.Port
}

// Close shuts the server down. Its data stays in the directory.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// StartCluster starts a cluster of servers, each with its own subdirectory of directory, and waits until it has a leader.
func StartCluster(directory string, nodes int) ([]*Server, error) {
	ports, err := freePorts(nodes)
	if err != nil {
		return nil, err
	}
	password := rand.Text()
	var routes []*url.URL // each node needs the addresses of the others when it starts
	for _, port := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", User: url.UserPassword(user, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))})
	}
	var all []*Server
	for i, port := range ports {
		name := "node-" + strconv.Itoa(i+1)
		s, err := start(&server.Options{
			ServerName: name, Port: server.RANDOM_PORT, JetStream: true, StoreDir: filepath.Join(directory, name), Password: password,
			Cluster: server.ClusterOpts{Name: "campaign", Host: "127.0.0.1", Port: port, Username: user, Password: password}, Routes: routes,
		})
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, s)
	}
	for deadline := time.Now().Add(30 * time.Second); !hasLeader(all); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			closeAll(all)
			return nil, errors.New("embedded: the cluster had no leader after 30 s")
		}
	}
	return all, nil
}

// freePorts returns n free ports of the loopback interface.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, fmt.Errorf("embedded: %w", err)
		}
		defer func() { _ = listener.Close() }() // closed together at the end, so that no port is returned twice
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// hasLeader reports whether the cluster knows all its nodes and has a leader.
func hasLeader(all []*Server) bool {
	for _, s := range all {
		if s.nats.JetStreamIsLeader() && len(s.nats.JetStreamClusterPeers()) == len(all) {
			return true
		}
	}
	return len(all) == 0
}

func closeAll(all []*Server) {
	for _, s := range all {
		s.Close()
	}
}
