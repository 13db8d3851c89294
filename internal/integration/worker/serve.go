package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/recollect-go/recollect/internal/docstore"
)

// Serve answers the requests of in on out until in ends. It is what the process runs.
func Serve(store docstore.Store, in io.Reader, out io.Writer) error {
	requests := json.NewDecoder(in)
	var (
		calls   sync.WaitGroup
		writing sync.Mutex
		replies = json.NewEncoder(out)
	)
	defer calls.Wait()
	for {
		var req request
		if err := requests.Decode(&req); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		calls.Go(func() {
			answer := perform(store, &req)
			writing.Lock()
			defer writing.Unlock()
			_ = replies.Encode(answer) // the other side is gone when this fails, and in ends
		})
	}
}

func perform(store docstore.Store, req *request) *reply {
	ctx := context.Background()
	answer := &reply{ID: req.ID}
	var err error
	switch req.Method {
	case "ping":
	case "read":
		answer.Content, answer.Version, err = store.Read(ctx, req.Key)
	case "write":
		answer.Version, err = store.Write(ctx, req.Key, req.Content, req.Expected)
	case "delete":
		err = store.Delete(ctx, req.Key, req.Expected)
	default:
		err = fmt.Errorf("worker: no method %q", req.Method)
	}
	answer.fail(err)
	return answer
}
