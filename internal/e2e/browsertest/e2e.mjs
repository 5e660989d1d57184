// A test over the JSON API of the sandbox, as a program in another language would have it.
import assert from "node:assert";
import { beforeEach, test } from "node:test";

const base = process.env.MESSAGING_BASE_URL;
const token = process.env.MESSAGING_TOKEN;

// request makes a request and returns its status and the JSON of its response.
async function request(method, path, body) {
  const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  return { status: response.status, got: await response.json() };
}

// call makes a request that has to succeed.
async function call(method, path, body) {
  const { status, got } = await request(method, path, body);
  assert.equal(status, 200, JSON.stringify(got));
  return got;
}

const sendCode = (number) => call("POST", "/sms/send", { from: "ACME", to: number, text: "Your code is 482913" });
const ask = (number) => call("POST", "/chatapp2/send", {
  messaging_product: "whatsapp", to: number, type: "interactive",
  interactive: { type: "button", body: { text: "Now?" }, action: { buttons: [{ type: "reply", reply: { id: "y", title: "Yes" } }] } },
});

beforeEach(() => call("POST", "/_sandbox/reset", {}));

test("a code arrives", async () => {
  await sendCode("+639171234567");
  const { messages } = await call("GET", "/_sandbox/messages?to=639171234567&wait=10s");
  assert.equal(messages.at(-1).code, "482913");
  const delivered = await call("GET", `/_sandbox/messages/${messages[0].id}?state=delivered&wait=10s`);
  assert.equal(delivered.state, "delivered");
});

test("what does not come is a 408 that says what did", async () => {
  await sendCode("+639171234567");
  for (const path of ["messages?to=639180001111", "messages/msg-none?state=delivered", "calls?about=failed"]) {
    const { status, got } = await request("GET", `/_sandbox/${path}${path.includes("?") ? "&" : "?"}wait=50ms`);
    assert.equal(status, 408, path);
    assert.ok(Array.isArray(got.came), path);
  }
  const { got } = await request("GET", "/_sandbox/messages?to=639180001111&wait=50ms");
  assert.match(got.error, /Your code is 482913/);
});

test("a tap on what is not there is refused", async () => {
  await ask("+639171234567");
  const { messages } = await call("GET", "/_sandbox/messages?to=639171234567&wait=10s");
  const tap = { channel: "chatapp2", from: "+639171234567", message: messages[0].id, kind: "button" };
  for (const [wrong, wanted] of [[{ message: "wamid.none", payload: "y" }, 404], [{ payload: "yes" }, 400], [{ payload: "y", from: "+639180001111" }, 400]]) {
    const { status, got } = await request("POST", "/_sandbox/replies", { ...tap, ...wrong });
    assert.equal(status, wanted, JSON.stringify(got));
  }
  const { calls } = await call("POST", "/_sandbox/replies", { ...tap, payload: "y" });
  assert.equal(calls[0].status, 200);
});

test("a lost response is looked up, not sent again", async () => {
  await call("POST", "/_sandbox/faults", { fault: "accept-then-drop", n: 1 });
  const body = JSON.stringify({ from: "ACME", to: "+639171234567", text: "Hi", clientRef: "order-17" });
  await assert.rejects(fetch(base + "/sms/send", { method: "POST", body, headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" } }));
  const { messages } = await call("GET", "/_sandbox/messages?wait=10s");
  assert.equal(messages.length, 1);
  for (let tries = 0; ; tries++) {
    const { exchanges } = await call("GET", "/_sandbox/traffic");
    if (exchanges.length) {
      assert.equal(exchanges[0].inLedger, true);
      break;
    }
    assert.ok(tries < 200);
    await new Promise((done) => setTimeout(done, 50));
  }
});

test("outside the window a text is refused", async () => {
  await call("PATCH", "/_sandbox/settings", { refuseClosed: true });
  const text = { messaging_product: "whatsapp", to: "+639190002222", type: "text", text: { body: "Hi" } };
  assert.equal((await request("POST", "/chatapp2/send", text)).status, 400);
  await call("POST", "/_sandbox/replies", { channel: "sms", from: "+639190002222", text: "another channel" });
  assert.equal((await request("POST", "/chatapp2/send", text)).status, 400);
  await call("PATCH", "/_sandbox/settings", { refuseClosed: false });
  await call("POST", "/chatapp2/send", text);
});

test("the description has every operation that is used here", async () => {
  const { paths } = await call("GET", "/_sandbox/openapi.json");
  for (const path of ["/messages", "/messages/{id}", "/calls", "/replies", "/faults", "/traffic", "/settings", "/reset"]) assert.ok(paths[path], path);
});
