package codec

import "strings"

// Response is a decoded response to a send. Empty and zero fields are absent from the response.
type Response struct {
	ID          string
	RequestID   string
	ReferenceID string
	Operator    string
	Status      string // the word of the status, such as accepted
	Parts       int

	// Amounts of money are decimal numbers in the scale of the contract.
	UnitCost, Cost, Balance, Currency string

	OtherReferences []string // reference IDs other than ReferenceID
	Recipients      []string // of the messages that the response names
	Failure

	// Claim is what the response says became of the message. Reason says why it says neither, and is "" if it accepts or refuses.
	Claim  Claim
	Reason string

	// IsText reports whether the response is plain text, and not JSON; IsStructured whether it is a JSON object or list.
	IsText, IsStructured bool

	// FoundAt is the path at which Recognize found the ID by its name, for the contract. It is "" if the ID is where the contract says, and if
	// responses have it at too many paths.
	FoundAt string

	isAccepted bool // the contract has no IDs, and a status accepts the message
}

// A Claim is what a response says became of the message. The zero Claim is Unclear.
type Claim uint8

const (
	// Unclear: a 2xx response proves neither acceptance nor refusal.
	Unclear Claim = iota
	// Accepts: the response names the message, or a status accepts it, and nothing in the response reports a failure.
	Accepts
	// Refuses: the response has an error code of a known class, or a status that refuses the message.
	Refuses
	// Contradictory: the response proves nothing, even if its HTTP status is a failure. A member of the contract came twice, or the IDs
	// name no message, or several.
	Contradictory
	// UnknownStatus: as Unclear, because the contract does not know Status.
	UnknownStatus
	// NamesNone: as Unclear, because the response names no message.
	NamesNone
)

// Why a response proves nothing, or does not accept the message.
const (
	duplicateMember = "the response has a member of the contract twice"
	mixedMessages   = "the response lists several messages of which one failed or has no ID, where one was sent (response.id, response.status)"
	tooLongList     = "the response lists several messages, and is too long to be read with each of them"
	invalidID       = "the response has an ID of more than 256 characters, or with control characters or invalid UTF-8 (response.id)"
	twoStatuses     = "the response has two statuses, of which one refuses the message (accepted, refused)"
	noStatus        = "the response has no status that accepts the message, and the contract says that it has no ID (accepted, response.id)"
	noID            = "the response names no message at any path of the contract (response.id)"
	unknownStatus   = "the response has a status that is not a word of the contract (accepted, refused)" // and its path
)

// NamesMessage reports whether the response names a message or, if the contract has no IDs, accepts it by a status. Sending the message
// again could then send it twice, even if the response also reports a failure.
func (r *Response) NamesMessage() bool { return r.ID != "" || r.isAccepted }

// addReference adds a reference ID to OtherReferences, unless it is "" or the one in ReferenceID.
func (r *Response) addReference(reference string) {
	if reference != "" && reference != r.ReferenceID {
		r.OtherReferences = append(r.OtherReferences, reference)
	}
}

func (r *Response) addReferences(d *document, slots []int) {
	for _, slot := range slots {
		r.addReference(d.word(slot))
	}
}

func (r *Response) addRecipients(d *document, slots []int) {
	for _, slot := range slots {
		if word := d.word(slot); word != "" {
			r.Recipients = append(r.Recipients, word)
		}
	}
}

// detach copies the strings of a long response, so that they do not keep all of it in memory.
func (r *Response) detach(length int) {
	if length <= copyLimit {
		return
	}
	r.Failure = r.Failure.detached(length)
	for _, text := range []*string{
		&r.ID, &r.RequestID, &r.ReferenceID, &r.UnitCost, &r.Cost, &r.Balance, &r.Currency, &r.Operator, &r.Status,
	} {
		*text = strings.Clone(*text)
	}
	for _, texts := range [][]string{r.OtherReferences, r.Recipients} {
		for i := range texts {
			texts[i] = strings.Clone(texts[i])
		}
	}
}

// Decode reads a response. The error says why it is not in the form of the contract, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	m, err := s.responses.decode(body)
	return m.Response, err
}

// decode is Decode, and keeps what only this package needs.
func (f *messageFormat) decode(body []byte) (message, error) {
	buffer, _ := f.buffers.Get().(*[]value)
	if buffer == nil {
		buffer = new([]value)
	}
	defer f.buffers.Put(buffer)
	d, err := f.parse(body, *buffer)
	*buffer = d.values
	if err != nil {
		return message{}, err
	}
	m := f.readMessage(&d)
	if d.notJSON != nil {
		m.IsText = true
		m.FromService = f.knowsText(&m)
		if !m.FromService {
			return message{}, d.notJSON
		}
		return m, nil
	}
	m.IsStructured = d.has(root) && !d.values[root].IsScalar()
	f.readLists(&m, &d, f.lists)
	if m.Claim == Accepts {
		if failure := f.scanForFailure(&d); failure != "" {
			m.Claim = Unclear
			m.Reason = failure
		}
	}
	m.detach(len(body))
	return m, nil
}

// knowsText reports whether the contract knows a response that is plain text, by its code or its status.
func (f *messageFormat) knowsText(m *message) bool {
	_, isSuccess := f.meaning(m.Code)
	isKnownStatus := m.status.accepts || m.status.refuses
	return m.Class != "" || isKnownStatus || isSuccess
}
