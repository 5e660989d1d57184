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

const (
	host = "127.0.0.1"
	user = "campaign" // the only one of a server
	// startTimeout bounds the start of a server, and of a cluster.
	startTimeout = 30 * time.Second
)

// Start starts a server on a loopback port that stores its data in a directory. Port 0 selects a free port. Data that is already in the
// directory is available again. Clients need the password that [Server.URL] returns: it is random and kept in the directory, so that
// clients can connect again after a restart. The caller closes the server.
func Start(directory string, port int) (*Server, error) {
	name := filepath.Join(directory, "password")
	password, err := os.ReadFile(name) //nolint:gosec // the caller names the directory
	if len(password) == 0 {
		password = []byte(rand.Text())
		if err = os.MkdirAll(directory, 0o700); err == nil {
			err = os.WriteFile(name, password, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return start(&server.Options{ServerName: "embedded", Port: port, StoreDir: directory, Password: string(password)})
}

func start(options *server.Options) (*Server, error) {
	options.Host, options.Username, options.JetStream, options.NoSigs = host, user, true, true
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	s.Start()
	started := &Server{nats: s, password: options.Password}
	if !s.ReadyForConnections(startTimeout) {
		started.Close()
		return nil, errors.New("embedded: the server is not ready")
	}
	return started, nil
}

// URL returns the URL for clients, with user and password.
func (s *Server) URL() string { return address(s.password, s.nats.Addr()).String() }

func address(password string, at net.Addr) *url.URL {
	return &url.URL{Scheme: "nats", User: url.UserPassword(user, password), Host: at.String()}
}

// Close shuts the server down. Its data stays in the directory.
func (s *Server) Close() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// StartCluster starts a cluster of servers, each with its own subdirectory of directory, and waits until it has a leader. The caller closes
// the servers, also after an error.
func StartCluster(directory string, nodes int) (all []*Server, err error) {
	var ports []int
	var held []net.Listener // until all ports are known, so that none comes twice
	var routes []*url.URL   // each node needs the addresses of the others when it starts
	password := rand.Text()
	for range nodes {
		listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(host)})
		if err != nil {
			return nil, fmt.Errorf("embedded: %w", err)
		}
		at := listener.Addr().(*net.TCPAddr)
		ports, routes = append(ports, at.Port), append(routes, address(password, at))
		held = append(held, listener)
	}
	for _, listener := range held {
		_ = listener.Close()
	}
	for i, port := range ports {
		name := "node-" + strconv.Itoa(i+1)
		s, err := start(&server.Options{
			ServerName: name, Port: server.RANDOM_PORT, StoreDir: filepath.Join(directory, name), Password: password, Routes: routes,
			Cluster: server.ClusterOpts{Name: "campaign", Host: host, Port: port, Username: user, Password: password},
		})
		if err != nil {
			return all, err
		}
		all = append(all, s)
	}
	hasLeader := false
	for deadline := time.Now().Add(startTimeout); !hasLeader; time.Sleep(50 * time.Millisecond) {
		for _, s := range all { // that knows all nodes
			hasLeader = hasLeader || s.nats.JetStreamIsLeader() && len(s.nats.JetStreamClusterPeers()) == nodes
		}
		if time.Now().After(deadline) {
			return all, errors.New("embedded: the cluster has no leader")
		}
	}
	return all, nil
}
