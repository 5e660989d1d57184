package chatapp2

// Media is the source of a medium: exactly one of ID and Link.
type Media struct {
	// ID is the ID of a medium uploaded to the platform, which keeps it for 30 days.
	ID string `at:"id,notblank"`
	// Link is an http or https URL from which the platform fetches the medium. The platform caches it for 10 minutes.
	Link string `at:"link,url"`
}

// MediaID returns the source of a medium that was uploaded to the platform.
func MediaID(id string) Media { return Media{ID: id} }

// MediaLink returns the source of a medium that the platform fetches.
func MediaLink(url string) Media { return Media{Link: url} }

func (m Media) check(c *checks) {
	switch {
	case m.ID == "" && m.Link == "":
		c.Add("", "want exactly one of ID and Link, got none")
	case m.ID != "" && m.Link != "":
		c.Add("", "want exactly one of ID and Link, got both")
	}
}

// Image shows an image: JPEG or PNG, at most 5 MB. It can also be a Header and, in the header of a template, a Parameter. In a header it
// has no caption.
type Image struct {
	Media

	Caption string `at:"caption,max=1024"`
}

// Video shows a video: MP4 or 3GPP with H.264 and AAC, at most 16 MB. It can also be a Header and, in the header of a template, a
// Parameter. In a header it has no caption.
type Video struct {
	Media

	Caption string `at:"caption,max=1024"`
}

// Audio plays a sound: AAC, AMR, MP3, MP4 or OGG with Opus, at most 16 MB.
type Audio struct {
	Media

	// Voice makes it a voice message, which must be mono OGG with Opus.
	Voice bool `at:"voice"`
}

// Document offers a file: text, PDF or an office format, at most 100 MB. It can also be a Header and, in the header of a template, a
// Parameter. In a header it has no caption.
type Document struct {
	Media

	Caption string `at:"caption,max=1024"`
	// FileName is the name that the recipient sees. Its extension determines the icon. Optional.
	FileName string `at:"filename"`
}

// Sticker shows a sticker: WebP, at most 100 KB, or 500 KB if it is animated.
type Sticker struct {
	Media
}

// checkNoCaption checks that a medium in a header, if it is one, has no caption.
func checkNoCaption(c *checks, name string, medium any) {
	var caption string
	switch medium := medium.(type) {
	case Image:
		caption = medium.Caption
	case Video:
		caption = medium.Caption
	case Document:
		caption = medium.Caption
	}
	if caption != "" {
		c.Add(name+".Caption", "must be empty: a header has no caption")
	}
}
