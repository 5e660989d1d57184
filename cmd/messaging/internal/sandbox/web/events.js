"use strict";

// This script runs in pages, which call stream, and as a shared worker, which has one stream for all tabs.

// stream passes changes of the sandbox to notify. It returns a function that ends it.
function stream(url, notify) {
  let source = null;
  let isClosed = false;
  const connect = () => {
    if (isClosed) return;
    source = new EventSource(url);
    source.onopen = () => notify({ up: true });
    source.onmessage = ({ data }) => notify(JSON.parse(data));
    source.onerror = () => {
      notify({ up: false });
      const hasGivenUp = source.readyState === EventSource.CLOSED; // otherwise it connects again by itself
      if (hasGivenUp) setTimeout(connect, 2000);
    };
  };
  connect();
  return () => {
    isClosed = true;
    source.close();
  };
}

// The shared worker. In a page the handler is never called.
const tabs = new Set(); // a port for each tab
let connection = null; // the last message about the connection, for new tabs
let isStreaming = false;

self.onconnect = (event) => {
  const port = event.ports[0];
  tabs.add(port);
  port.onmessage = () => tabs.delete(port); // the tab was closed
  if (connection) port.postMessage(connection);
  if (isStreaming) return;
  isStreaming = true;
  stream("../events", (change) => {
    if ("up" in change) connection = change;
    for (const tab of tabs) tab.postMessage(change);
  });
};
