package learn

import (
	"slices"
	"strings"
)

// contractPage begins a reference to a section of the page about contracts.
const contractPage = "; see docs/contract.md, "

// hints adds comments about what the examples do not show.
type hints struct {
	examples *Examples
	overlay  *overlay
	unused   []leaf // parameters of the request above the row that were not learned
}

// add adds all of them. Of a listing alone, it leaves out the other sections.
func (h hints) add() {
	listingHints{row: h.examples.row, overlay: h.overlay, unused: h.unused}.note()
	h.noteRowStatus()
	newSendStatus(h.examples, h.overlay).noteRefusedWords()
	h.noteMoney()
	h.noteMessages()
	if !h.examples.isListingAlone() {
		h.noteOtherSections()
		newPlaceholders(h.examples.request, h.overlay).note()
	}
	h.noteZones()
}

func (h hints) noteRowStatus() {
	if h.examples.row != nil {
		members := newRows(h.examples.row, h.overlay).members()
		rowStatusHints{members: members, overlay: h.overlay}.note()
	}
}

func (h hints) noteMoney() {
	if h.examples.row != nil {
		members := newRows(h.examples.row, h.overlay).members()
		h.overlay.noteCurrency(members)
		rowMoney(h.overlay).note(members)
	}
	for _, example := range h.examples.accepted {
		responseMoney(h.overlay).note(leavesOf(example.text))
	}
}

// noteMessages adds a comment about the first refusal whose sentence is at no path of the new contract.
func (h hints) noteMessages() {
	paths := h.overlay.Errors.Message
	if paths == nil {
		paths = h.overlay.defaults.Errors.Message
	}
	isRead := func(at leaf) bool { return slices.Contains(paths, at.path) }
	isSentence := func(at leaf) bool { return at.path != "" && strings.Contains(at.word, " ") }
	for _, example := range h.examples.refused {
		leaves := leavesOf(example.text)
		sentence, hasSentence := first(leaves, isSentence)
		if !hasSentence || slices.ContainsFunc(leaves, isRead) {
			continue
		}
		h.overlay.warn("not learned: if "+sentence.path+" says why, write "+contractLine("message", sentence.path), sectionErrors, "message")
		return
	}
}

// noteOtherSections adds comments about all sections but the listing.
func (h hints) noteOtherSections() {
	if len(h.examples.inbound) == 0 {
		h.overlay.noteAbsent("an inbound message", "an inbound message"+contractPage+"6. Callbacks", sectionInbound, "params")
	}
	if len(h.examples.delivery) == 0 {
		h.overlay.noteAbsent("a delivery report", "a delivery report"+contractPage+"6. Callbacks", sectionDelivery, "params")
	}
	if len(h.examples.refused) == 0 {
		h.overlay.noteAbsent("a refusal", "a refusal"+contractPage+"4. Errors", sectionErrors, "classes")
	}
	if h.overlay.Auth.KeyPair.In == "body" && h.overlay.List.Method == "" {
		h.overlay.note("a listing by GET has no body: look up where its credentials go", sectionAuth, "keyPair", "in")
	}
	if len(h.overlay.Send.Constants) > 0 {
		h.overlay.note("every message is sent with these: remove those that only the example has", sectionSend, "constants")
	}
}

// noteZones adds a comment to each section whose examples have a time without an offset.
func (h hints) noteZones() {
	if h.examples.row != nil {
		h.overlay.noteZone(sectionList, h.examples.row)
	}
	h.overlay.noteZone(sectionInbound, h.examples.inbound...)
	h.overlay.noteZone(sectionDelivery, h.examples.delivery...)
}
