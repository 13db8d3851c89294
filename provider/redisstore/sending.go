package redisstore

import (
	"errors"
	"sync/atomic"
)

// sending is the last argument of a script call. The client turns it into bytes each time it sends the call, so it knows
// how often that happened: a command without its last argument is never carried out. This is how a call that certainly
// did not happen is told from one that may have, through whatever the client does about retries and redirects.
type sending struct {
	text  string
	once  bool         // never sent again
	times atomic.Int32 // abandoned, or how often the call was sent
}

const abandoned = -1

var (
	errAbandoned = errors.New("call was abandoned before it was sent")
	errOnce      = errors.New("call had no answer that counts, and is not sent again")
)

// MarshalBinary is called by the client (encoding.BinaryMarshaler) while it writes the command.
func (s *sending) MarshalBinary() ([]byte, error) {
	for {
		times := s.times.Load()
		if times == abandoned {
			return nil, errAbandoned
		}
		if times > 0 && s.once {
			return nil, errOnce
		}
		if s.times.CompareAndSwap(times, times+1) {
			return []byte(s.text), nil
		}
	}
}

// abandon prevents a call that was not sent yet from ever being sent, and reports whether it was in time.
func (s *sending) abandon() bool { return s.times.CompareAndSwap(0, abandoned) }

// retract takes back a call that was sent once and certainly not carried out.
func (s *sending) retract() { s.times.CompareAndSwap(1, 0) }

// repeated reports whether the call was sent more than once, so that an answer may be about a state that the call itself
// made.
func (s *sending) repeated() bool { return s.times.Load() > 1 }
