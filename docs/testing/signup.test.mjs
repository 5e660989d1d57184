// A test of a program that sends one-time codes. It runs against messaging sandbox.
import assert from "node:assert";
import { beforeEach, test } from "node:test";

const base = process.env.MESSAGING_BASE_URL;
const token = process.env.MESSAGING_TOKEN + ".signup-node"; // a space of its own

// call makes a request and returns the response.
async function call(method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
  });
  assert.ok(response.ok, await response.clone().text());
  return response.json();
}

// signUp is the program under test.
const signUp = (number) => call("POST", "/sms/send", { from: "ACME", to: number, text: "Your code is 482913" });

beforeEach(() => call("POST", "/_sandbox/reset", { all: true }));

test("the code arrives", async () => {
  await signUp("+639171234567");
  const { messages } = await call("GET", "/_sandbox/messages?to=639171234567&wait=10s");
  assert.equal(messages.at(-1).code, "482913");
});

test("a response is lost, although the message went out", async () => {
  await call("POST", "/_sandbox/faults", { fault: "accept-then-drop", n: 1 });
  await assert.rejects(signUp("+639180001111"));
  const { messages } = await call("GET", "/_sandbox/messages?to=639180001111&wait=10s");
  assert.equal(messages.length, 1);
});
