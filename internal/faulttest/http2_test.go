package faulttest_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Frames of HTTP/2, RFC 9113, section 6. They are written by hand because golang.org/x/net would be a dependency, and because
// no server of it would send what is sent here.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameRSTStream    = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9

	flagEndStream  = 0x1 // DATA, HEADERS
	flagAck        = 0x1 // SETTINGS, PING
	flagEndHeaders = 0x4
)

// Error codes, RFC 9113, section 7.
const (
	codeNoError         = 0x0
	codeProtocolError   = 0x1
	codeInternalError   = 0x2
	codeRefusedStream   = 0x7
	codeCancel          = 0x8
	codeEnhanceYourCalm = 0xb
)

const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// http2Transport returns a transport that speaks only HTTP/2, over TLS and without it.
func http2Transport() *http.Transport {
	p := new(http.Protocols)
	p.SetHTTP2(true)
	p.SetUnencryptedHTTP2(true)
	return &http.Transport{Protocols: p}
}

// serveHTTP2 reads frames until the connection ends. A request is whole with END_STREAM. Its header is not decoded.
func (p *peer) serveHTTP2(c net.Conn, number int) {
	r := bufio.NewReader(c)
	if _, err := r.Peek(1); err != nil {
		return
	}
	if p.begin != nil && p.warmUp == 0 && p.strikes() {
		p.begin(c, r)
		return
	}
	if preface := make([]byte, len(http2Preface)); readFull(r, preface) != nil || string(preface) != http2Preface {
		return
	}
	connection := &exchange{peer: p, conn: c, in: r}
	var settings []byte
	if p.streams > 0 {
		settings = []byte{0, 3, 0, 0, 0, p.streams} // SETTINGS_MAX_CONCURRENT_STREAMS
	}
	connection.frame(frameSettings, 0, 0, settings)
	type request struct {
		*arrival
		hit  bool
		body []byte
	}
	open := map[uint32]*request{}
	for {
		kind, flags, stream, payload, err := readFrame(r)
		if err != nil {
			return
		}
		switch kind {
		case frameSettings:
			if flags&flagAck == 0 {
				connection.frame(frameSettings, flagAck, 0, nil)
			}
			continue
		case framePing:
			if flags&flagAck == 0 {
				connection.frame(framePing, flagAck, 0, payload)
			}
			continue
		case frameHeaders:
			a := p.begins(number)
			q := &request{arrival: a, hit: p.hits(a)}
			if q.hit && p.begin != nil {
				p.begin(c, r)
				return
			}
			if q.hit && p.early != nil {
				p.early(&exchange{peer: p, conn: c, in: r, stream: stream, index: a.index})
				continue
			}
			open[stream] = q
		case frameData:
			if q := open[stream]; q != nil {
				q.body = append(q.body, payload...)
			}
		case frameRSTStream:
			delete(open, stream)
			continue
		case frameContinuation:
			// END_STREAM is a flag of the HEADERS before it. A POST with a body ends in DATA, never here.
			continue
		default:
			continue
		}
		q := open[stream]
		if q == nil || flags&flagEndStream == 0 {
			continue
		}
		delete(open, stream)
		p.completes(q.arrival, nil, q.body)
		x := &exchange{peer: p, conn: c, in: r, stream: stream, index: q.index, listing: len(q.body) == 0}
		if p.handle(x, q.hit); x.over {
			return
		}
	}
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return err
}

func readFrame(r io.Reader) (kind, flags byte, stream uint32, payload []byte, err error) {
	var head [9]byte
	if err = readFull(r, head[:]); err != nil {
		return 0, 0, 0, nil, err
	}
	payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]) & (1<<31 - 1), payload, readFull(r, payload)
}

// frame writes a frame, valid or not, and reports whether the connection took it.
func (x *exchange) frame(kind, flags byte, stream uint32, payload []byte) bool {
	n := len(payload)
	b := append([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, binary.BigEndian.AppendUint32(nil, stream)...)
	_, err := x.conn.Write(append(b, payload...))
	return err == nil
}

// writeHeaders begins a response: HTTP/2 only.
func (x *exchange) writeHeaders(status int, header []string) {
	block := hpackStatus(status)
	for i := 0; i < len(header); i += 2 {
		block = hpackField(block, strings.ToLower(header[i]), header[i+1])
	}
	x.frame(frameHeaders, flagEndHeaders, x.stream, block)
}

// hpackStatus begins a header block with :status: its name by the static table of RFC 7541, its value in full.
func hpackStatus(status int) []byte { return hpackString([]byte{0x08}, strconv.Itoa(status)) }

// hpackField appends a header field, its name and value in full.
func hpackField(b []byte, name, value string) []byte {
	return hpackString(hpackString(append(b, 0x00), name), value)
}

// hpackString appends a string as in RFC 7541, section 5.2, without Huffman coding.
func hpackString(b []byte, s string) []byte {
	n := len(s)
	if n < 127 {
		return append(append(b, byte(n)), s...)
	}
	b, n = append(b, 127), n-127
	for ; n >= 128; n /= 128 {
		b = append(b, byte(n%128+128))
	}
	return append(append(b, byte(n)), s...)
}

// initialWindow is how much of a response body is written before the client has to enlarge the flow-control window: less
// than net/http allows at first, and enough for it to react.
const initialWindow = 256 << 10

// writeData writes a piece of a response body in frames of at most 16 KiB, as far as the window allows: HTTP/2 only.
func (x *exchange) writeData(piece string, last bool) bool {
	const longest = 16 << 10
	for {
		n := min(len(piece), longest)
		if x.written += n; x.written > initialWindow+x.window && !x.awaitWindow() {
			return false
		}
		var flags byte
		if last && n == len(piece) {
			flags = flagEndStream
		}
		if !x.frame(frameData, flags, x.stream, []byte(piece[:n])) {
			return false
		}
		if piece = piece[n:]; piece == "" {
			return true
		}
	}
}

// awaitWindow waits until the window is large enough, and reports whether that happened.
func (x *exchange) awaitWindow() bool {
	for x.written > initialWindow+x.window {
		kind, _, stream, payload, err := readFrame(x.in)
		switch {
		case err != nil:
			return false
		case stream != x.stream:
		case kind == frameRSTStream:
			return false
		case kind == frameWindowUpdate:
			x.window += int(binary.BigEndian.Uint32(payload))
		}
	}
	return true
}

// resetStream ends the stream with an error code: HTTP/2 only.
func (x *exchange) resetStream(code uint32) {
	x.frame(frameRSTStream, 0, x.stream, binary.BigEndian.AppendUint32(nil, code))
}

// pause slows down a client that replays a request at once, and without end.
func (x *exchange) pause() {
	select {
	case <-x.ended:
	case <-time.After(20 * time.Millisecond):
	}
}

// goAway announces that no stream above last was processed, or will be: HTTP/2 only.
func (x *exchange) goAway(last, code uint32) {
	x.frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, last), code))
}

// awaitRead waits until the client has read everything written so far, which its response to a PING shows: HTTP/2 only.
func (x *exchange) awaitRead() {
	x.frame(framePing, 0, 0, make([]byte, 8))
	for {
		kind, flags, _, _, err := readFrame(x.in)
		if err != nil || kind == framePing && flags&flagAck != 0 {
			return
		}
	}
}
