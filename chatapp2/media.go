package chatapp2

import "github.com/messaging-service/messaging-go/internal/wire"

// Media is the source of a medium: exactly one of ID and Link.
type Media struct {
	// ID is the ID of a medium uploaded to the platform, which keeps it for 30 days.
	ID string `json:"id,omitzero"`
	// Link is an http or https URL from which the platform fetches the medium. It caches the medium for 10 minutes.
	Link string `json:"link,omitzero"`
	// Provider names a configured provider that the platform authenticates with to fetch Link. Optional.
	Provider MediaProvider `json:"provider,omitzero"`
}

// MediaProvider is a provider of media, as configured on the platform.
type MediaProvider struct {
	Name string `json:"name,omitzero"`
}

// read also takes the name alone, as one page of the platform's documentation has it.
func (p *MediaProvider) read(value any) fit {
	if name, ok := value.(string); ok {
		p.Name = name
		return exact
	}
	type object MediaProvider
	return read(value, (*object)(p))
}

// MediaID returns the source of a medium uploaded to the platform.
func MediaID(id string) Media { return Media{ID: id} }

// MediaLink returns the source of a medium that the platform fetches.
func MediaLink(url string) Media { return Media{Link: url} }

func (m Media) check(c *checks, path string) {
	switch {
	case m.ID == "" && m.Link == "":
		c.Found(path, "want exactly one of ID and Link, got none")
	case m.ID != "" && m.Link != "":
		c.Found(path, "want exactly one of ID and Link, got both")
	}
	c.notBlank(path+".ID", m.ID)
	c.Found(path+".Link", wire.CheckURL(m.Link))
}

// maxCaption is how many characters a caption may have.
const maxCaption = 1024

// Image shows an image: JPEG or PNG, at most 5 MB. It can also be a Header and, in the header of a template, a Parameter,
// without a caption.
type Image struct {
	Media

	// Caption is the text below the image, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
}

func (Image) kind() string { return typeImage }

func (i Image) content() any { return i }

func (i Image) check(c *checks, path string) {
	i.Media.check(c, path)
	c.length(path+".Caption", i.Caption, maxCaption)
}

// Video shows a video: MP4 or 3GPP with H.264 and AAC, at most 16 MB. It can also be a Header and, in the header of a
// template, a Parameter, without a caption.
type Video struct {
	Media

	// Caption is the text below the video, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
}

func (Video) kind() string { return typeVideo }

func (v Video) content() any { return v }

func (v Video) check(c *checks, path string) {
	v.Media.check(c, path)
	c.length(path+".Caption", v.Caption, maxCaption)
}

// Audio plays a sound: AAC, AMR, MP3, MP4 or OGG with Opus, at most 16 MB.
type Audio struct {
	Media

	// Voice makes it a voice message, which must be mono OGG with Opus.
	Voice bool `json:"voice,omitzero"`
}

func (Audio) kind() string { return typeAudio }

func (a Audio) content() any { return a }

func (a Audio) check(c *checks, path string) { a.Media.check(c, path) }

// Document offers a file: text, PDF or an office format, at most 100 MB. It can also be a Header and, in the header of a
// template, a Parameter, without a caption.
type Document struct {
	Media

	// Caption is the text below the document, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
	// FileName is the name that the recipient sees. Its extension determines the icon. Optional.
	FileName string `json:"filename,omitzero"`
}

func (Document) kind() string { return typeDocument }

func (d Document) content() any { return d }

func (d Document) check(c *checks, path string) {
	d.Media.check(c, path)
	c.length(path+".Caption", d.Caption, maxCaption)
}

// Sticker shows a sticker: WebP, at most 100 KB, or 500 KB if it is animated.
type Sticker struct {
	Media
}

func (Sticker) kind() string { return typeSticker }

func (s Sticker) content() any { return s }

func (s Sticker) check(c *checks, path string) { s.Media.check(c, path) }

// checkNoCaption rejects the caption of a medium in a header.
func checkNoCaption(c *checks, path string, medium any) {
	caption := ""
	switch m := medium.(type) {
	case Image:
		caption = m.Caption
	case Video:
		caption = m.Caption
	case Document:
		caption = m.Caption
	}
	if caption != "" {
		c.Found(path+".Caption", "must be empty: a header has no caption")
	}
}
