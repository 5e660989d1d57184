package sandbox

import "slices"

// A conversationPart is the part of a conversation that the page shows: the entries from begin up to end.
type conversationPart struct {
	begin, end int
	scrollTo   string // the ID of an entry, or ""
}

// part returns the part before or after an entry with an ID, or around the picked one, or the end of the conversation.
func (c *conversation) part(pickedID, beforeID, afterID string) conversationPart {
	if before := c.indexOf(beforeID); before >= 0 {
		return c.partFrom(before-shownEntries+1, beforeID)
	}
	if after := c.indexOf(afterID); after >= 0 {
		return c.partFrom(after, afterID)
	}
	if picked := c.indexOf(pickedID); picked >= 0 {
		return c.partAround(picked, pickedID)
	}
	return c.partFrom(c.lastPart(), "")
}

// indexOf returns the index of the entry with an ID, or -1.
func (c *conversation) indexOf(id string) int {
	return slices.IndexFunc(c.Entries, func(e *entry) bool { return e.ID == id })
}

// lastPart returns where the last part begins.
func (c *conversation) lastPart() int { return max(0, len(c.Entries)-shownEntries) }

// partAround returns the part with an entry in its middle, or the last part if that has the entry.
func (c *conversation) partAround(index int, id string) conversationPart {
	if index >= c.lastPart() {
		return c.partFrom(c.lastPart(), id)
	}
	return c.partFrom(index-shownEntries/2, id)
}

// partFrom returns the part that begins at an index, or as near to it as a full part can begin.
func (c *conversation) partFrom(index int, scrollTo string) conversationPart {
	begin := max(0, min(index, c.lastPart()))
	end := min(len(c.Entries), begin+shownEntries)
	return conversationPart{begin: begin, end: end, scrollTo: scrollTo}
}

// partLinks are the URLs of other parts of a conversation.
type partLinks struct {
	Earlier, Later string
	Newest         string // the URL of the end of the conversation, if that is not shown
}

// toParts returns the links from a part of a conversation to its other parts.
func (l conversationLinks) toParts(c *conversation, part conversationPart) partLinks {
	var parts partLinks
	if part.begin > 0 {
		parts.Earlier = l.url(c, "before", c.Entries[part.begin].ID)
	}
	if part.end < len(c.Entries) {
		parts.Later = l.url(c, "after", c.Entries[part.end-1].ID)
		parts.Newest = l.url(c, "message", "")
	}
	return parts
}
