package memory

import (
	"context"
	"slices"
)

// holder returns the index of the first slot whose memory has the key, or -1. Two slots may share one.
func holder(all []owned, key string) int {
	return slices.IndexFunc(all, func(o owned) bool { return o.lock != nil && o.lock.keys.Key == key })
}

// heldBy returns whether a capture waits for the memory of one of the slots.
func heldBy(all []owned) func(*pendingCapture) bool {
	return func(c *pendingCapture) bool { return holder(all, c.lock.keys.Key) >= 0 }
}

// failAll notes a failure of the outbox for every slot that has a memory: what waits there may be anybody's.
func failAll(all []owned, err error) {
	for i := range all {
		if all[i].lock != nil {
			all[i].fail(err)
		}
	}
}

// eachPending calls f for every record of the outbox, those of other nodes included, in which a capture waits for one of
// the slots' memories. Failing to read one fails the slots.
func (r *round) eachPending(ctx context.Context, all []owned, f func(key string, record *outboxRecord) error) {
	o := r.m.outbox
	if o == nil || !slices.ContainsFunc(all, func(o owned) bool { return o.lock != nil }) {
		return
	}
	var failures recordErrors
	err := o.scan(ctx, func(key string) error {
		record, err := o.read(ctx, key)
		if err == nil && record != nil && record.has(heldBy(all)) {
			err = f(key, record)
		}
		if err != nil {
			failures.add(key, err)
		}
		return ctx.Err()
	})
	failAll(all, failures.err())
	if ended := cancelled(ctx); ended != nil {
		err = ended
	}
	if err != nil {
		failAll(all, outboxError("list records", err))
	}
}

// dropPending removes the captures that wait for the slots' memories. One that runs in this process is awaited, so that
// nothing is stored after the erasure.
func (r *round) dropPending(ctx context.Context, all []owned) {
	o := r.m.outbox
	r.eachPending(ctx, all, func(key string, _ *outboxRecord) error {
		if err := o.enter(ctx, key); err != nil {
			return err
		}
		defer o.leave(key)
		dropped, err := o.dropCaptures(ctx, key, heldBy(all))
		if err != nil {
			return err
		}
		for _, c := range dropped {
			all[holder(all, c.lock.keys.Key)].report.Captures++
		}
		o.dropped.Add(int64(len(dropped)))
		return nil
	})
}

// checkPending fails the slots for whose memories a capture waits again.
func (r *round) checkPending(ctx context.Context, all []owned) {
	r.eachPending(ctx, all, func(_ string, record *outboxRecord) error {
		for i := range record.captures {
			if at := holder(all, record.captures[i].lock.keys.Key); at >= 0 {
				all[at].fail(outboxError("a turn was completed meanwhile", ErrNotErased))
			}
		}
		return nil
	})
}

// pendingRecord is a capture that waits, as it is exported.
type pendingRecord struct {
	slot   string
	record *ExportedRecord
}

// pendingRecords returns the captures that wait for each slot's memory.
func (r *round) pendingRecords(ctx context.Context, all []owned) [][]pendingRecord {
	pending := make([][]pendingRecord, len(all))
	r.eachPending(ctx, all, func(_ string, record *outboxRecord) error {
		metadata := append([]byte(nil), `{"completedAt":`...)
		metadata = appendTime(metadata, record.recordedAt)
		metadata = append(metadata, `,"messages":`...)
		metadata, err := appendMessages(metadata, record.messages, nil)
		if err != nil {
			return err
		}
		metadata = append(metadata, '}')
		for i := range record.captures {
			l := &record.captures[i].lock
			if at := holder(all, l.keys.Key); at >= 0 {
				exported := &ExportedRecord{Kind: kindPending, ID: record.operationID(l.slot), Metadata: metadata}
				pending[at] = append(pending[at], pendingRecord{l.slot, exported})
			}
		}
		return nil
	})
	return pending
}
