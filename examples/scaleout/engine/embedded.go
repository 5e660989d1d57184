package engine

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Server is a NATS server with JetStream in this process.
type Server struct {
	nats *server.Server
}

// Start starts a server on a loopback port that stores its data in a directory. Port 0 selects a free port. Data that is already in the
// directory is available again. The caller closes the server.
func Start(directory string, port int) (*Server, error) {
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return start(&server.Options{ServerName: "embedded", Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: directory, NoSigs: true})
}

func start(options *server.Options) (*Server, error) {
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, errors.New("engine: the embedded server was not ready after 10 s")
	}
	return &Server{nats: s}, nil
}

// URL returns the URL for clients.
func (s *Server) URL() string { return s.nats.ClientURL() }

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
	var routes []*url.URL // each node needs the addresses of the others when it starts
	for _, port := range ports {
		routes = append(routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))})
	}
	var all []*Server
	for i, port := range ports {
		name := "node-" + strconv.Itoa(i+1)
		s, err := start(&server.Options{
			ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: filepath.Join(directory, name), NoSigs: true,
			Cluster: server.ClusterOpts{Name: "campaign", Host: "127.0.0.1", Port: port}, Routes: routes,
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
			return nil, errors.New("engine: the cluster had no leader after 30 s")
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
			return nil, fmt.Errorf("engine: %w", err)
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
