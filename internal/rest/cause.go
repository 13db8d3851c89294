package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
)

// plain returns what broke an exchange off, in words that hold nothing of the address and nothing of the reply. It matches no
// context error: those of others than the caller are no cancellation.
func plain(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("given up by the transport")
	}
	var (
		network     *net.OpError
		certificate *tls.CertificateVerificationError
		wrapped     *url.Error
	)
	switch {
	case errors.As(err, &network):
		return network
	case errors.As(err, &certificate):
		return certificate
	case errors.As(err, &wrapped):
		err = wrapped.Err
	}
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch} {
		if errors.Is(err, known) {
			return known
		}
	}
	return quiet{err}
}

// quiet is an error whose text may quote what a server sent: net/http does so with a reply that it cannot read. It can be
// compared, and does not print it.
type quiet struct{ err error }

func (quiet) Error() string { return "exchange broke off, or its reply is not HTTP" }

func (q quiet) Unwrap() error { return q.err }
