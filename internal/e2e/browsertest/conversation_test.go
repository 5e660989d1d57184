package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/sms"
)

// testDrafts opens another conversation while an answer is being written, and sends one answer with three times Enter.
func testDrafts(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "to Ana")
	b.text(t, ben, "to Ben")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	typeInto(t, tab, "#reply", "for Ana alone")
	openThread(t, tab, "to Ben")
	waitForText(t, tab, "#log", "to Ben")
	assert.Empty(t, eval[string](t, tab, `document.querySelector("#reply").value`))
	typeInto(t, tab, "#reply", "for Ben")
	openThread(t, tab, "to Ana")
	eventually(t, tab, `document.querySelector("#reply").value === "for Ana alone"`)
	b.text(t, ana, "another")
	waitForText(t, tab, "#log", "another")
	assert.Equal(t, "for Ana alone", eval[string](t, tab, `document.querySelector("#reply").value`), "an event leaves it")

	do(t, tab, `
		const fast = window.fetch;
		const slow = (url, options) => new Promise(resolve => setTimeout(resolve, 700)).then(() => fast(url, options));
		window.fetch = (url, options) => String(url).endsWith("replies") ? slow(url, options) : fast(url, options);
		document.querySelector("#reply").focus()`)
	run(t, tab, chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	waitFor(t, tab, ".entry.out")
	time.Sleep(time.Second)
	assert.Equal(t, []string{"for Ana alone"}, eval[[]string](t, tab, `[...document.querySelectorAll(".entry.out .text")].map(e => e.innerText)`))
	do(t, tab, `window.fetch = () => Promise.reject(new TypeError("offline"))`)
	typeInto(t, tab, "#reply", "not lost")
	submit(t, tab, "form.type")
	eventually(t, tab, `document.querySelector("#reply").value === "not lost"`)
}

// testSearch looks for a number and words, and empties the search.
func testSearch(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Your parcel arrives today")
	b.text(t, ana, "Thank you")
	b.text(t, ben, "Nothing")
	b.text(t, "+639195550142", "مرحبا بكم في متجرنا الجديد، يسعدنا أن نخدمكم كل يوم من الصباح حتى المساء")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	waitForCount(t, tab, ".thread", 3)
	typeInto(t, tab, "#q", "today PARCEL")
	waitForCount(t, tab, ".thread", 1)
	click(t, tab, ".thread")
	waitForText(t, tab, ".entry.current", "parcel")
	focus(t, tab, "#q")
	run(t, tab, chromedp.KeyEvent(kb.Escape))
	eventually(t, tab, `document.querySelector("#q").value === "" && document.querySelectorAll(".thread").length === 3 && !location.search.includes("q=")`)
	b.open(t, tab, "/_sandbox/?only=chatapp1")
	waitForCount(t, tab, ".thread", 0)
	focus(t, tab, "#q")
	run(t, tab, chromedp.KeyEvent(kb.Escape))
	eventually(t, tab, `document.querySelectorAll(".thread").length === 3 && !location.search.includes("only=")`)
	typeInto(t, tab, "#q", "917 123")
	waitForCount(t, tab, ".thread", 1)
	typeInto(t, tab, "#q", "")
	waitForCount(t, tab, ".thread", 3)
	// The beginning of an Arabic preview is at its right.
	assert.True(t, eval[bool](t, tab, `(() => {
		const preview = [...document.querySelectorAll(".last")].find(e => e.innerText.includes("مرحبا"));
		const walker = document.createTreeWalker(preview, NodeFilter.SHOW_TEXT);
		walker.nextNode();
		const range = document.createRange();
		range.setStart(walker.currentNode, 0);
		range.setEnd(walker.currentNode, 5);
		const word = range.getBoundingClientRect();
		const box = preview.getBoundingClientRect();
		return word.right <= box.right + 1 && word.left >= box.left - 1;
	})()`))
}

// testManyConversations turns the pages of the list, and finds one of 150 conversations.
func testManyConversations(t *testing.T, tab browser, command string) {
	t.Helper()
	const conversations = 150
	b := startSandbox(t, command)
	for i := range conversations {
		b.text(t, fmt.Sprintf("+63917%07d", i), fmt.Sprint("Message ", i))
	}
	view(t, tab, 1440, 900, "dark")
	b.open(t, tab, "/_sandbox/")
	waitForCount(t, tab, ".thread", 100)
	click(t, tab, ".pager a")
	waitForText(t, tab, ".pager", "101–150 of 150")
	typeInto(t, tab, "#q", "639170000021")
	waitForCount(t, tab, ".thread", 1)
	_, err := b.client(t).SMS.Send(t.Context(), sms.Message{From: "ACME", To: "+639170000021", Text: "One more"})
	require.NoError(t, err)
	waitForText(t, tab, ".thread", "One more")
}

// testOnlyConversation opens the only conversation next to the list, if there is room for both.
func testOnlyConversation(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/")
	eventually(t, tab, `document.querySelector("#log").innerText.includes("Hello") && document.querySelector(".thread").checkVisibility()`)

	view(t, tab, 390, 844, "light")
	eventually(t, tab, `document.querySelector(".thread").checkVisibility() && !document.querySelector("#log").checkVisibility()`)
	click(t, tab, ".thread")
	eventually(t, tab, `document.querySelector("#log").checkVisibility() && !document.querySelector(".thread").checkVisibility()`)
	click(t, tab, ".phone .back")
	eventually(t, tab, `document.querySelector(".thread").checkVisibility() && !document.querySelector("#log").checkVisibility()`)
}

// testMissingPages opens links to a message and pages that do not exist.
func testMissingPages(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	b.text(t, ana, "Hello")
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message=msg-99")
	waitForText(t, tab, ".stage", "This message is gone")
	for _, path := range []string{"/nothing", "/_sandbox/page/nothing"} {
		b.open(t, tab, path)
		waitForText(t, tab, "main", "Not found")
		click(t, tab, "main a")
		waitForText(t, tab, ".thread", "Hello")
	}
	var traffic struct{ Exchanges []struct{ URL string } }
	b.get(t, "traffic", &traffic)
	assert.Len(t, traffic.Exchanges, 1, "neither the page nor its favicon is traffic: %v", traffic)
}

// testTap taps a button, and buttons of a page that does not match the message any more.
func testTap(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	receipt, err := b.client(t).ChatApp2.Send(t.Context(), chatapp2.Message{To: ana, Content: chatapp2.Interactive{
		Body: "When shall we come?", Action: chatapp2.ReplyButtons{{ID: "am", Title: "Morning"}, {ID: "pm", Title: "Afternoon"}},
	}})
	require.NoError(t, err)
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("chatapp2", ana))
	do(t, tab, `document.querySelectorAll(".tap")[1].click()`)
	waitForText(t, tab, ".entry.out", "Afternoon")
	do(t, tab, `const tap = document.querySelectorAll(".tap")[0]; tap.dataset.json = tap.dataset.json.replace('"am"', '"noon"'); tap.click()`)
	waitForText(t, tab, ".toast.bad", `it has button with payload "am"`)
	do(t, tab, fmt.Sprintf(`const tap = document.querySelectorAll(".tap")[1]; tap.dataset.json = tap.dataset.json.replace(%q, "wamid.none"); tap.click()`, receipt.ID))
	waitForText(t, tab, ".toast.bad", "no message has the ID wamid.none")
	assert.Equal(t, 1, eval[int](t, tab, `document.querySelectorAll(".entry.out").length`))
}

// testOldMessage opens a message far back, and reads while another arrives.
func testOldMessage(t *testing.T, tab browser, command string) {
	t.Helper()
	b := startSandbox(t, command)
	var middle string
	for i := range 230 {
		if id := b.text(t, ana, fmt.Sprint("Message ", i)); i == 40 {
			middle = id
		}
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, "/_sandbox/?message="+middle)
	inView := func(text string) string {
		return fmt.Sprintf(`(() => {
			const entry = [...document.querySelectorAll(".entry")].find(e => e.querySelector(".text").innerText === %q);
			const { top, bottom } = entry.getBoundingClientRect();
			const log = document.querySelector("#log").getBoundingClientRect();
			return top >= log.top - 1 && bottom <= log.bottom + 1;
		})()`, text)
	}
	eventually(t, tab, inView("Message 40"))
	do(t, tab, `document.querySelector("#earlier a")?.click()`)
	waitForText(t, tab, "#log", "Message 0")
	b.open(t, tab, "/_sandbox/?message="+middle)
	eventually(t, tab, inView("Message 40"))
	eventually(t, tab, `document.querySelector("#later") && document.querySelectorAll(".entry").length === 100`)
	click(t, tab, "#later a")
	eventually(t, tab, inView("Message 99"))
	click(t, tab, "#later a:last-child")
	eventually(t, tab, inView("Message 229"))
	do(t, tab, `document.querySelector("#log").scrollTop = 1000`)
	line := eval[string](t, tab, `(() => {
		const top = document.querySelector("#log").getBoundingClientRect().top;
		return [...document.querySelectorAll(".entry .text")].find(e => e.getBoundingClientRect().top > top + 100).innerText;
	})()`)
	place := fmt.Sprintf(`[...document.querySelectorAll(".entry .text")].find(e => e.innerText === %q).getBoundingClientRect().top`, line)
	before := eval[float64](t, tab, place)
	b.text(t, ana, "while you read")
	eventually(t, tab, `document.querySelector("#pill").innerText === "1 new" && document.querySelector("#pill").checkVisibility()`)
	assert.InDelta(t, before, eval[float64](t, tab, place), 2, "the reader is not moved")
	click(t, tab, "#pill")
	eventually(t, tab, inView("while you read"))
	eventually(t, tab, `document.querySelector("#pill").hidden`)
}

// testReaderIsNotMoved reads an old line while messages arrive.
func testReaderIsNotMoved(t *testing.T, tab browser, command string) {
	t.Helper()
	const arrivals = 30
	const interval = 20 * time.Millisecond
	b := startSandbox(t, command)
	for i := range 150 {
		b.text(t, ana, fmt.Sprint("Message ", i))
	}
	view(t, tab, 1440, 900, "light")
	b.open(t, tab, conversation("sms", ana))
	waitForCount(t, tab, ".entry", 100)
	do(t, tab, `document.querySelector("#log").scrollTop = document.querySelector("#log").scrollHeight - 2500`)
	do(t, tab, `
		const top = document.querySelector("#log").getBoundingClientRect().top;
		window.line = [...document.querySelectorAll(".entry")].find(e => e.getBoundingClientRect().top > top + 100);
		window.moved = 0;
		const before = window.line.getBoundingClientRect().top;
		const look = () => {
			window.moved = Math.max(window.moved, Math.abs(window.line.getBoundingClientRect().top - before));
			window.looking = requestAnimationFrame(look);
		};
		look()`)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	client := b.client(t)
	for i := range arrivals {
		<-ticker.C
		_, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: fmt.Sprint("New ", i)})
		require.NoError(t, err)
	}
	eventually(t, tab, fmt.Sprintf(`document.querySelector("#pill").innerText === "%d new" && document.querySelector("#pill").checkVisibility()`, arrivals))
	assert.True(t, eval[bool](t, tab, `window.line.isConnected`), "the line is not replaced")
	assert.LessOrEqual(t, eval[float64](t, tab, `window.moved`), 4.0, "nor does it move")
	do(t, tab, `cancelAnimationFrame(window.looking); document.querySelector("#pill").click()`)
	eventually(t, tab, fmt.Sprintf(`[...document.querySelectorAll(".entry .text")].at(-1).innerText === "New %d"`, arrivals-1))
	eventually(t, tab, `document.querySelector("#pill").hidden`)
	eventually(t, tab, `(l => l.scrollHeight - l.scrollTop - l.clientHeight < 80)(document.querySelector("#log"))`)
}
