"""A test of a program that sends one-time codes. It runs against messaging sandbox."""

import http.client
import json
import os
import unittest
import urllib.request

BASE = os.environ["MESSAGING_BASE_URL"]
TOKEN = os.environ["MESSAGING_TOKEN"] + ".signup-python"  # a space of its own


def call(method, path, body=None):
    """Makes a request and returns the response."""
    request = urllib.request.Request(
        BASE + path,
        method=method,
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def sign_up(number):
    """The program under test."""
    call("POST", "/sms/send", {"from": "ACME", "to": number, "text": "Your code is 482913"})


class SignUp(unittest.TestCase):
    def setUp(self):
        call("POST", "/_sandbox/reset", {"all": True})

    def test_code_arrives(self):
        sign_up("+639171234567")
        found = call("GET", "/_sandbox/messages?to=639171234567&wait=10s")
        self.assertEqual("482913", found["messages"][-1]["code"])

    def test_lost_response(self):
        call("POST", "/_sandbox/faults", {"fault": "accept-then-drop", "n": 1})
        with self.assertRaises((OSError, http.client.HTTPException)):
            sign_up("+639180001111")
        found = call("GET", "/_sandbox/messages?to=639180001111&wait=10s")
        self.assertEqual(1, len(found["messages"]), "it went out all the same")


if __name__ == "__main__":
    unittest.main()
