package sandbox

import (
	"net/http"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

type connectView struct {
	Start    *startView
	Settings Settings
	Contract string
	Spaces   []Space
}

func (s *Sandbox) pageConnect(w http.ResponseWriter, r *http.Request) {
	v := connectView{Start: s.start(r), Settings: s.readSettings(), Spaces: s.owner.list()}
	text, _ := s.config.Contract.MarshalJSON() // it was parsed
	v.Contract = document.Parse(text).Indented()
	s.render(w, r, "connect", "Connect", v)
}
