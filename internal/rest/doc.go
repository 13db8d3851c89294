// Package rest is the HTTP of the hosted stores and services of this module: one exchange with its limits, what may be tried
// again and when, and the errors that all of them share.
//
// Rules that hold for every exchange:
//   - A redirect is never followed. It would hand the authorization to another place, or turn a write into a read.
//   - A reply is read up to a limit, in identity encoding only. What is larger or encoded is an error, not a part.
//   - Nothing that a service says in prose reaches an error text: it may quote a credential or a memory. Codes and numbers do.
//   - The context ends an exchange, and the wait before the next, at once. Whether an error is a cancellation is told by the
//     caller's context alone: the timeout of one exchange is [ErrNoReply], never a context error.
package rest
