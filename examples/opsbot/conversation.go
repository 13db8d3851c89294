package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// attachment is the name under which a conversation is stored with the session's checkpoint.
const attachment = "opsbot.conversation"

// stored is a conversation as it is attached to a checkpoint.
type stored struct {
	Version  int              `json:"version"`
	Caller   *scope.Principal `json:"caller"`
	Snapshot json.RawMessage  `json:"snapshot"`
}

const storedVersion = 1

// conversation is a session of memory and the checkpoints that hold it. Whatever changes it runs as a step, which commits
// the snapshot together with the state that the step has changed.
type conversation struct {
	memory *memory.Session
	state  *state.Session
}

// open begins or resumes the session of the given name, a new one for "".
func (b *bot) open(ctx context.Context, name string) error {
	if name == "" {
		name = uuid.NewString()
	}
	checkpoint, err := state.Open(ctx, b.store, state.ID{Session: name}, nil)
	if err != nil {
		return err
	}
	session, resumed, err := b.restore(ctx, name, checkpoint)
	if err != nil {
		return err
	}
	b.conversation = &conversation{memory: session, state: checkpoint}
	b.lastPrompt = nil
	verb := "new"
	if resumed {
		verb = "resumed"
	}
	b.say("session %s (%s), caller %s", name, verb, callerName(b.caller))
	return nil
}

// finish goes on with the turn that a killed process has left, if there is one.
func (b *bot) finish(ctx context.Context) error {
	id := b.conversation.memory.Unfinished()
	if id == "" {
		return nil
	}
	b.say("finishing the turn that was interrupted")
	return b.turn(ctx, id, nil)
}

// restore returns the memory session that is attached to a checkpoint, or a new one, and takes over the caller that goes
// with it.
func (b *bot) restore(ctx context.Context, name string, checkpoint *state.Session) (session *memory.Session, resumed bool, err error) {
	options := &memory.SessionOptions{
		ID: name, Summarize: b.summarize,
		OnReset: func(ctx context.Context, _ *memory.SessionReset) error { return checkpoint.Reset(ctx) },
	}
	raw, err := checkpoint.Attachment(ctx, attachment)
	if errors.Is(err, state.ErrNoAttachment) {
		session, err = b.memory.NewSession(options)
		return session, false, err
	}
	if err != nil {
		return nil, false, err
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, false, fmt.Errorf("stored conversation: %w", err)
	}
	if s.Version != storedVersion {
		return nil, false, fmt.Errorf("stored conversation has version %d, this program reads %d", s.Version, storedVersion)
	}
	b.caller = s.Caller
	session, err = b.memory.RestoreSession(s.Snapshot, options)
	return session, true, err
}

// step runs fn, and commits what it has changed: state and conversation together, or nothing.
func step[T any](ctx context.Context, b *bot, name string, fn func(context.Context) (T, error)) (T, error) {
	return state.Step(b.conversation.state.Context(ctx), name, func(ctx context.Context) (T, error) {
		result, err := fn(ctx)
		if err != nil {
			return result, err
		}
		return result, b.attach(ctx)
	})
}

// attach stores the conversation as it is now: with the step of ctx, or at once outside one.
func (b *bot) attach(ctx context.Context) error {
	snapshot, err := b.conversation.memory.Snapshot()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(stored{Version: storedVersion, Caller: b.caller, Snapshot: snapshot})
	if err != nil {
		return err
	}
	return b.conversation.state.Attach(ctx, attachment, raw)
}
