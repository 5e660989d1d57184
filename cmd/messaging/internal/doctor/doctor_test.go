package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func TestNothingContradictsDefaultContract(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	seedMessages(srv, 6)
	r := newRig(t, srv.URL, srv.Token)
	status, out, progress := r.run()
	assert.Equal(t, statusOK, status, "%s%s", out, progress)
	assert.Contains(t, out, "39 as the contract says, 0 differ, 0 not found out")
}
