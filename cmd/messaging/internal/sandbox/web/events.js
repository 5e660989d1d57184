"use strict";
// stream passes changes to notify until the returned function is called.
function stream(url, notify) {
  let events, isOver = false;
  const open = () => {
    if (isOver) return;
    events = new EventSource(url);
    events.onopen = () => notify({ up: true });
    events.onerror = () => {
      notify({ up: false });
      if (events.readyState === EventSource.CLOSED) setTimeout(open, 2000);
    };
    events.onmessage = (message) => notify(JSON.parse(message.data));
  };
  open();
  return () => {
    isOver = true;
    events.close();
  };
}

// A shared worker has one stream for all tabs.
const ports = new Set();
let latest, close;
self.onconnect = ({ ports: [port] }) => {
  ports.add(port);
  port.onmessage = () => ports.delete(port); // its page is gone
  if (latest) port.postMessage(latest);
  close ??= stream("../events", (data) => {
    if ("up" in data) latest = data;
    for (const each of ports) each.postMessage(data);
  });
};
