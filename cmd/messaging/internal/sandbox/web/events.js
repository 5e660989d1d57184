"use strict";
// stream reports changes until the function that it returns is called.
function stream(url, tell) {
  let events, isOver = false;
  const open = () => {
    if (isOver) return;
    events = new EventSource(url);
    events.onopen = () => tell({ up: true });
    events.onerror = () => {
      tell({ up: false });
      if (events.readyState === EventSource.CLOSED) setTimeout(open, 2000);
    };
    events.onmessage = (message) => tell(JSON.parse(message.data));
  };
  open();
  return () => {
    isOver = true;
    events.close();
  };
}

// A worker that all tabs share has one stream for all of them.
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
