// Package check compares a contract with a real account. It asks the service with the public client, and reads the rows of the responses by
// itself, because the client leaves out rows that contradict a filter.
//
// A line of the report says proven only if a value of this run shows it: the rows of two messages that were sent, filters that find those rows
// and nothing else, and rows in the order that was asked for. The report has no credentials, numbers or texts. Of other values it shows a price,
// so that a person sees a wrong scale, the time of the newest row, so that they see a wrong zone, and what the errors of the library show.
//
// The command (command.go) makes a checker, and its method check (check.go) takes these steps, in this order:
//
//	checkListing     check.go         reads the first page
//	checkPaging      paging.go        reads two smaller pages, and compares their rows (paged_rows.go)
//	checkSends       send.go          sends messages, and waits until each is listed (lookup.go)
//	checkRows        rows.go          compares the rows of these messages, and what the client reads in them (transactions.go), with what was sent
//	checkValues      values.go        counts values of the latest listing, shows a price, and looks for the names of members
//	checkFilters     filters.go       tries each filter by an ID or another value (filter_values.go), or by a bound of time (bounds.go)
//	checkOrder       order.go         lists the rows by their times, in both orders
//	checkSendStatus  send_status.go   counts the send statuses in all listings
//	checkPageNames   values.go        looks for the names of the members around the rows in all responses
//	checkUnreadable  seen.go          counts rows that cannot be read, in all listings
//	checkClock       seen.go          compares the newest time in all listings with the clock
//
// A step gathers what it needs and adds a line to the report (report.go). A function whose name begins with judge decides what the line says.
// All listings go through one lister (lister.go), which returns a page (page.go). A recorder (recorder.go) keeps the responses for it, and
// wireNames (names.go) finds rows and values in them by the contract.
package check
