package messagingriver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestNamedCampaign is paused, loaded, resumed and cancelled, each within a second, and holds no other message back.
func TestNamedCampaign(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.Rate = 50
		r := t.newRig(t, client, options)
		load := func(campaign string, n int, at ...time.Time) {
			for i := range n {
				options := messagingriver.InsertOptions{Campaign: campaign}
				if len(at) > 0 {
					options.At = at[0]
				}
				require.NoError(t, r.insertWith(t.Context(), smsMessage(fmt.Sprint(campaign, "-", i)), options))
			}
		}
		for what, err := range map[string]error{
			"pause": r.PauseCampaign(t.Context(), "spring"), "resume": r.ResumeCampaign(t.Context(), "spring"),
		} {
			require.EqualError(t, err, `messagingriver: there is no campaign "spring"`, what)
		}
		_, err := r.CancelCampaign(t.Context(), "spring")
		require.Error(t, err)
		_, err = r.CampaignStatus(t.Context(), "spring")
		require.Error(t, err)

		load("spring", 200)
		load("summer", 20)
		defer r.start(t)()
		require.Eventually(t, func() bool { return len(service.Sent()) > 10 }, time.Minute, 5*time.Millisecond)
		began := time.Now()
		require.NoError(t, r.PauseCampaign(t.Context(), "spring"))
		load("spring-2", 1)
		require.NoError(t, r.insertWith(t.Context(), smsMessage("late"), messagingriver.InsertOptions{Campaign: "spring"}))
		assert.Less(t, time.Since(began), 2*time.Second)
		time.Sleep(time.Second)
		sent := references(service)
		insert(t, r, smsMessage("other"))
		becomes(t, r, smsKey("other"), messagingriver.Accepted)
		becomes(t, r, smsKey("summer-19"), messagingriver.Accepted)
		for reference := range references(service) {
			if sent[reference] == 0 {
				assert.NotContains(t, reference, "spring-1")
			}
		}
		status, err := r.CampaignStatus(t.Context(), "spring")
		require.NoError(t, err)
		waiting := 0
		for _, channel := range status.Channels {
			for _, state := range channel.States {
				if state.State == messagingriver.Waiting {
					waiting = state.Messages
					assert.Zero(t, state.Due)
				}
			}
		}
		assert.Positive(t, waiting)

		require.NoError(t, r.ResumeCampaign(t.Context(), "spring"))
		becomes(t, r, smsKey("late"), messagingriver.Accepted)
		load("autumn", 30, time.Now().Add(time.Hour))
		n, err := r.CancelCampaign(t.Context(), "autumn")
		require.NoError(t, err)
		assert.Equal(t, 30, n)
		record, err := r.row(t.Context(), smsKey("autumn-29"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Dropped, record.State)
		assert.Empty(t, record.Message)
		load("autumn", 31)
		becomes(t, r, smsKey("autumn-30"), messagingriver.Accepted)
	})
}

func TestShow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		none, err := r.Show(t.Context(), "a")
		require.NoError(t, err)
		assert.Empty(t, none)
		require.NoError(t, r.insertWith(t.Context(), smsMessage("a"), messagingriver.InsertOptions{
			Campaign: "spring", Priority: messagingriver.High, Expire: time.Hour,
		}))
		shown, err := r.Show(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, shown, 1)
		assert.Nil(t, shown[0].History)
		assert.Equal(t, messagingriver.Waiting, shown[0].State)
		assert.Equal(t, messagingriver.High, shown[0].Priority)
		assert.Equal(t, "spring", shown[0].Campaign)
		assert.WithinDuration(t, time.Now().Add(time.Hour), shown[0].Expires, time.Minute)

		service.Inject(messagingtest.AcceptThenDrop(), 1)
		insert(t, r, chatMessage("a"))
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		record := becomes(t, r, chatKey("a"), messagingriver.Accepted, messagingriver.Parked)
		shown, err = r.Show(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, shown, 2)
		for _, one := range shown {
			require.NotEmpty(t, one.History, one.Channel)
			assert.Contains(t, []string{"accepted", "unknown"}, one.History[0].Verdict)
			assert.WithinDuration(t, record.Began, one.History[0].Began, time.Minute)
			assert.False(t, one.History[0].Ended.Before(one.History[0].Began))
		}
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, status.Workers)
		assert.Positive(t, status.LastMinute)
	})
}
