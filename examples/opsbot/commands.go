package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

const help = `Plain lines are turns. Commands:
  /as TENANT/USER   speak as somebody else, in the same session
  /anonymous        speak as nobody: no memory, and nothing falls back to a shared one
  /new              begin another session
  /compact          replace the older part of the conversation by a summary
  /clear            drop the conversation; memories and the incident stay
  /reset            end the session and delete its checkpoints; memories stay
  /view             print exactly what the model saw last, tools included
  /keys             print the key of every slot for the caller
  /help             print this
  /quit             leave; go on later with -session NAME`

// maxLine is the longest line that is read.
const maxLine = 1 << 20

var errQuit = errors.New("quit")

// converse finishes the turn that a killed process has left, and handles the lines of in until /quit, its end, or that of
// ctx. What fails is reported, and the conversation goes on.
func (b *bot) converse(ctx context.Context, in io.Reader) error {
	b.report(b.finish(ctx))
	lines, readErr := readLines(ctx, in)
	for {
		select {
		case <-ctx.Done():
			b.say("interrupted; go on with -session %s", b.conversation.memory.ID())
			return nil
		case line, open := <-lines:
			if !open {
				return <-readErr
			}
			err := b.handle(ctx, strings.TrimSpace(line))
			if errors.Is(err, errQuit) {
				b.say("go on with -session %s", b.conversation.memory.ID())
				return nil
			}
			b.report(err)
		}
	}
}

func (b *bot) report(err error) {
	if err != nil {
		b.say("error: %v", err)
	}
}

// readLines reads in the background, since a read from a terminal cannot be interrupted.
func readLines(ctx context.Context, in io.Reader) (lines <-chan string, err <-chan error) {
	out, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case out <- scanner.Text():
			case <-ctx.Done():
				failed <- nil
				return
			}
		}
		failed <- scanner.Err()
	}()
	return out, failed
}

func (b *bot) handle(ctx context.Context, line string) error {
	if line == "" {
		return nil
	}
	if !strings.HasPrefix(line, "/") {
		return b.deliver(ctx, line)
	}
	command, argument, _ := strings.Cut(line, " ")
	switch command {
	case "/as":
		return b.as(argument)
	case "/anonymous":
		b.caller = nil
		b.say("caller anonymous")
		return nil
	case "/new":
		return b.open(ctx, "")
	case "/compact":
		return b.compact(ctx)
	case "/clear":
		return b.clear(ctx)
	case "/reset":
		return b.reset(ctx)
	case "/view":
		return b.view()
	case "/keys":
		return b.keys(ctx)
	case "/help":
		b.say("%s", help)
		if b.isStandIn() {
			b.say("%s", standInHelp)
		}
		return nil
	case "/quit":
		return errQuit
	}
	return fmt.Errorf("unknown command %s; /help lists them", command)
}

func (b *bot) as(argument string) error {
	caller, err := parseCaller(argument)
	if err != nil {
		return err
	}
	b.caller = caller
	b.say("caller %s", callerName(caller))
	return nil
}

func (b *bot) compact(ctx context.Context) error {
	report, err := b.conversation.memory.Compact(ctx, &memory.CompactCall{ModelID: b.modelName, Current: b.caller})
	if report == nil {
		return err
	}
	b.say("compaction: %s", report.Outcome)
	return errors.Join(err, b.attach(ctx))
}

func (b *bot) clear(ctx context.Context) error {
	if err := b.conversation.memory.Clear(ctx); err != nil {
		return err
	}
	b.lastPrompt = nil
	b.say("conversation cleared")
	return b.attach(ctx)
}

func (b *bot) reset(ctx context.Context) error {
	if err := b.conversation.memory.Reset(ctx); err != nil {
		return err
	}
	b.say("session ended")
	return b.open(ctx, "")
}

// keys prints the key of every slot. A key is a digest: it says nothing about the scope, and it is no credential.
func (b *bot) keys(ctx context.Context) error {
	request := &scope.Request{SessionID: b.conversation.memory.ID(), Node: scope.RootNode, Current: b.caller, Initiator: b.caller}
	for _, slot := range b.slots {
		key, err := keyOf(ctx, slot, request)
		if err != nil {
			return err
		}
		b.say("%s %s", slot.Name, key)
	}
	return nil
}

func keyOf(ctx context.Context, slot memory.Slot, request *scope.Request) (string, error) {
	s, err := slot.Scope.ResolveScope(ctx, request)
	if err != nil {
		return "", err
	}
	if s.IsZero() {
		return "disabled", nil
	}
	namespace, err := slot.Namespace.ResolveNamespace(ctx, request)
	if err != nil {
		return "", err
	}
	keys, err := scope.Derive(namespace, s)
	return keys.Key, err
}
