package chatapp2

import (
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Media says where a medium comes from: exactly one of its fields is set.
type Media struct {
	// ID is that of a medium that was uploaded to the platform, which keeps it for 30 days.
	ID string `json:"id,omitzero"`
	// Link is where the platform fetches the medium: absolute, http or https. It keeps what it has fetched for 10 minutes.
	Link string `json:"link,omitzero"`
}

// MediaID names a medium that was uploaded to the platform.
func MediaID(id string) Media { return Media{ID: id} }

// MediaLink names a medium that the platform fetches.
func MediaLink(url string) Media { return Media{Link: url} }

func (m Media) check(c *checks, path string) {
	switch {
	case m.ID == "" && m.Link == "":
		c.found(path, "want exactly one of ID and Link, got none")
	case m.ID != "" && m.Link != "":
		c.found(path, "want exactly one of ID and Link, got both")
	}
	c.id(path+".ID", m.ID)
	c.found(path+".Link", wire.CheckURL(m.Link))
}

// captionMost is how long a caption may be.
const captionMost = 1024

// Image shows an image: JPEG or PNG, at most 5 MB. It is also a Header and, in the header of a template, a Parameter; neither
// takes a caption.
type Image struct {
	Media

	// Caption is the text below the image, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
}

func (Image) kind() string { return typeImage }

func (i Image) content() any { return i }

func (i Image) check(c *checks, path string) {
	i.Media.check(c, path)
	c.text(path+".Caption", i.Caption, captionMost)
}

// Video shows a video: MP4 or 3GPP with H.264 and AAC, at most 16 MB. It is also a Header and, in the header of a template, a
// Parameter; neither takes a caption.
type Video struct {
	Media

	// Caption is the text below the video, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
}

func (Video) kind() string { return typeVideo }

func (v Video) content() any { return v }

func (v Video) check(c *checks, path string) {
	v.Media.check(c, path)
	c.text(path+".Caption", v.Caption, captionMost)
}

// Audio plays a sound: AAC, AMR, MP3, MP4 or OGG with Opus, at most 16 MB.
type Audio struct {
	Media

	// Voice makes it a voice message, which needs OGG with Opus in one channel.
	Voice bool `json:"voice,omitzero"`
}

func (Audio) kind() string { return typeAudio }

func (a Audio) content() any { return a }

func (a Audio) check(c *checks, path string) { a.Media.check(c, path) }

// Document offers a file: text, PDF or an office format, at most 100 MB. It is also a Header and, in the header of a template, a
// Parameter; neither takes a caption.
type Document struct {
	Media

	// Caption is the text below the document, at most 1024 characters. Optional.
	Caption string `json:"caption,omitzero"`
	// Filename is the name that the recipient sees; its extension chooses the icon. Optional.
	Filename string `json:"filename,omitzero"`
}

func (Document) kind() string { return typeDocument }

func (d Document) content() any { return d }

func (d Document) check(c *checks, path string) {
	d.Media.check(c, path)
	c.text(path+".Caption", d.Caption, captionMost)
	c.text(path+".Filename", d.Filename, 0)
}

// Sticker shows a sticker: WebP, at most 100 KB, or 500 KB where it is animated.
type Sticker struct {
	Media
}

func (Sticker) kind() string { return typeSticker }

func (s Sticker) content() any { return s }

func (s Sticker) check(c *checks, path string) { s.Media.check(c, path) }
