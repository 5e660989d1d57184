package learn

// learnHelp is the help of the command learn. Tests learn from its examples, and look for each key of each kind in it.
const learnHelp = `Write an overlay of the contract from the examples of a provider's documentation. The examples come from files, from standard
input, or, on a terminal, one by one.

A file has a section for each example. A section begins with its kind. Lines such as "id: h-1" name values in the example; an empty
line and the example follow, copied from the documentation:

  === request
  from: ACME
  to: 639171234567
  text: Hi
  callback: https://shop.example.com/dlr
  reference: order-17

  curl https://api.example.com/v3/messages -H 'Authorization: Bearer TOKEN' -d '{"sender": "ACME", "recipient": "639171234567",
    "text": "Hi", "notify": "https://shop.example.com/dlr", "ref": "order-17"}'

  === accepted
  http: 202
  id: h-1

  {"handle": "h-1", "state": "queued"}

  === refused
  http: 400
  class: invalid

  {"fault": {"code": "E101", "text": "Unknown sender"}}

The kinds are:

  request    a curl command, an HTTP request, or the JSON or the form of its body with the line "path:": from, to, text, callback,
             reference, token, key and secret. Of other values, those that look like credentials by their names, or because they look
             random, are never written
  accepted   a response to the request: http, id, status, request, reference, parts, unitCost, cost, currency, balance, operator, and to
             if it is about another number
  refused    http, class, request, status, and code, which is needed if its name is unusual. The classes are unauthorized, forbidden,
             rateLimited, insufficientBalance, duplicate, windowClosed, optedOut, unreachable (a number that cannot get the message),
             notFound, unavailable and invalid
  row        a response of the listing: path, id, request, reference, category, from, to, text, parts, price, currency, created, sent,
             operator, country, description, the status of the delivery with its meaning in means (see delivery), and sendStatus: whether
             the service took the message, in the words of the status of accepted and refused responses. A curl command above the response
             shows the path, the filters by these values, and page, offset, cursor, pageSize, createdAfter, createdBefore, sortBy and order. An
             offset counts rows; as in start=0&count=100, it needs no line. A cursor comes from the response before; with usual names, such
             as cursor and next_cursor, it needs no line. The line "next:" gives the number or cursor of the next page as the response
             has it. The line "layout:" shows how an unusual time format of rows writes 2 January 2006, 15:04:05. The form of the times in
             filters comes from createdAfter and createdBefore, such as unix from since=1764345600 with "createdAfter: 1764345600". Write
             amounts as the example has them: if 35 is in hundredths, write "price: 35", and "scale": -2 into the contract by hand
  inbound    a callback with an inbound message: id, from, to, text, time, reference, operator, keyword
  delivery   a callback with a delivery report: id, reference, from, to, time, errorCode, status, and means: one of delivered, read, queued, sent,
             failed, expired and rejected. The default contract knows the meanings of usual words. A GET with the parameters of the
             callback URL shows what its placeholders mean

A file has one request and at most one row, and any number of the others. If only the listing of your account differs, a row is enough.
Give a refusal of each class, and a report of each status.

The words of a status are added to the default words, which stay: the examples seldom show all words, and without the default words of
failed and rejected, a refused message could count as accepted.

A value that is not in its example, or that a contract cannot use, is an error: nothing is written, and the exit status is 1.

Each example is then replayed through the overlay. If a result is wrong, nothing is written, and the exit status is 1. Keys that end in //,
which the library ignores, list what the examples do not show. For scales, time zones, and the pages, totals, prices, orders, send statuses and
texts of errors that it is not sure of, the command also prints the lines to write by hand.`
