"use strict";
// A worker that all tabs share: one stream of events for all of them, since a browser opens six connections at most.
const ports = new Set();
let isUp, events;

function tell(data) {
  for (const port of ports) port.postMessage(data);
}

function open() {
  events = new EventSource("../events");
  events.onopen = () => tell((isUp = { up: true }));
  events.onerror = () => {
    tell((isUp = { up: false }));
    if (events.readyState === EventSource.CLOSED) setTimeout(open, 2000);
  };
  events.onmessage = (message) => tell(JSON.parse(message.data));
}

onconnect = ({ ports: [port] }) => {
  ports.add(port);
  port.onmessage = () => ports.delete(port); // its page is gone
  if (isUp) port.postMessage(isUp);
  if (!events) open();
};
