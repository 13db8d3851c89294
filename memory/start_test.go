package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
)

func TestStartResolvesEverySlotBeforeAnyRecall(t *testing.T) {
	t.Parallel()
	var j journal
	slot := func(name string) memory.Slot {
		return memory.Slot{
			Name: name,
			Provider: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
				j.add("recall")
				return nil, nil
			}},
			Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
				j.add("scope")
				return scope.String("u"), nil
			}),
			Namespace: scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) {
				j.add("namespace")
				return app, nil
			}),
		}
	}
	newBundle(t, nil, slot("a"), slot("b"), slot("c")).start("q")
	lines := j.all()
	require.Len(t, lines, 9)
	require.Equal(t, []string{"recall", "recall", "recall"}, lines[6:])
}

func TestStartResolvesAndRecallsConcurrently(t *testing.T) {
	t.Parallel()
	var resolving, recalling sync.WaitGroup
	resolving.Add(3)
	recalling.Add(3)
	meet := func(g *sync.WaitGroup) {
		g.Done()
		g.Wait()
	}
	var slots []memory.Slot
	for _, name := range []string{"a", "b", "c"} {
		slots = append(slots, memory.Slot{
			Name: name,
			Provider: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
				meet(&recalling)
				return []memory.Item{{Content: name}}, nil
			}},
			Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
				meet(&resolving)
				return scope.String("u"), nil
			}),
		})
	}
	view := newBundle(t, nil, slots...).start("q")
	require.Equal(t, []string{"a", "b", "c", "q"}, texts(view.Messages), "in slot order")
}

func TestResolverSeesWhatTheHostTrusts(t *testing.T) {
	t.Parallel()
	user := &scope.Principal{Type: "user", ID: "u"}
	var seen scope.Request
	b := newBundle(t, &memory.Options{Node: "child"}, memory.Slot{Name: "p", Provider: recalls(), Scope: scope.ResolverFunc(
		func(_ context.Context, r *scope.Request) (scope.Scope, error) {
			seen = *r
			return scope.String("u"), nil
		},
	)})
	b.session = memory.SessionInfo{ID: "s", Current: user, Initiator: user, Channel: map[string]any{"team": "t"}}
	b.start("q")
	require.Equal(t, scope.Request{SessionID: "s", Node: "child", Slot: "p", Current: user, Initiator: user, Channel: map[string]any{"team": "t"}}, seen)
}

func TestDisabledSlotIsNotAskedAnything(t *testing.T) {
	t.Parallel()
	never := memory.Handlers{
		Recall:      func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic("recalled") },
		CaptureTurn: func(context.Context, *memory.TurnCompleted) error { panic("captured") },
		Tools:       func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { panic("asked for tools") },
	}
	var j journal
	var events []memory.EventKind
	b := newBundle(t, &memory.Options{
		Logger: j.logger(), Development: true,
		Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) { events = append(events, e.Kind) }},
	}, memory.Slot{
		Name: "nobody", Provider: never,
		Scope:     scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { return scope.Scope{}, nil }),
		Namespace: scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { panic("asked for a namespace") }),
	}, memory.Slot{
		Name: "nowhere", Provider: never, Scope: scope.String("secret"),
		Namespace: scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { return "", nil }),
	})
	b.start("q")
	b.reply("a")
	require.NoError(t, b.complete())
	require.Equal(t, []memory.EventKind{memory.EventSlotDisabled, memory.EventSlotDisabled, memory.EventTurnStarted, memory.EventTurnCompleted}, events)
	lines := strings.Join(j.all(), "\n")
	require.Contains(t, lines, `slot=nobody resolver=scope`)
	require.Contains(t, lines, `slot=nowhere resolver=namespace`)
	require.NotContains(t, lines, "secret")
}

func TestDevelopmentReportsSlotsThatShareAKey(t *testing.T) {
	t.Parallel()
	var j journal
	slots := []memory.Slot{{Name: "a", Provider: recalls()}, {Name: "b", Provider: recalls()}, {Name: "c", Provider: recalls(), Scope: scope.String("other")}}
	newBundle(t, &memory.Options{Logger: j.logger(), Development: true}, slots...).start("q")
	require.Len(t, j.all(), 1)
	require.Contains(t, j.all()[0], `two slots share a key" slot=a other=b`)
	newBundle(t, &memory.Options{Logger: j.logger()}, slots...).start("q")
	require.Len(t, j.all(), 1, "in development only")
}

func TestEveryProviderSeesTheSameHistoryInASliceOfItsOwn(t *testing.T) {
	t.Parallel()
	var both sync.WaitGroup
	both.Add(2)
	seen := make([][]string, 2)
	slot := func(i int) memory.Slot {
		return memory.Slot{Name: string(rune('a' + i)), Provider: memory.Handlers{Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			seen[i] = texts(r.Messages)
			if r.Turn.Start != len(r.Messages) || texts(r.Turn.Input)[0] != "q" {
				return nil, errors.New("the turn is not what was begun")
			}
			both.Done()
			both.Wait()
			clear(r.Messages)
			clear(r.Turn.Input)
			_ = append(r.Messages, memory.UserMessage("x"))
			return []memory.Item{{Content: "of " + r.Slot}}, nil
		}}}
	}
	b := newBundle(t, nil, slot(0), slot(1))
	b.history = []memory.Message{memory.UserMessage("h1"), memory.AssistantMessage("h2")}
	view := b.start("q")
	require.Equal(t, [][]string{{"h1", "h2"}, {"h1", "h2"}}, seen)
	require.Equal(t, []string{"h1", "h2", "of a", "of b", "q"}, texts(view.Messages))
	require.Equal(t, "q", view.Messages[view.Start].Text())
}

func TestRecordsStandDirectlyBeforeTheInput(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(memory.Item{ID: "k", Content: "v1"}, memory.Item{Content: "loose"})})
	b.start("q1")
	b.reply("a1")
	b.replace(nil, memory.Slot{Name: "p", Provider: recalls(memory.Item{ID: "k", Content: "v2"})})
	view := b.start("q2")
	require.Equal(t, []string{"loose", "q1", "a1", "v2", "q2"}, texts(view.Messages), "a keyed record takes the place of the earlier one; leaving one out retracts nothing")
	require.Equal(t, []string{"v1", "loose", "q1", "a1", "v2", "q2"}, texts(b.history), "the history keeps everything")
	projected, err := b.book.Project(b.history)
	require.NoError(t, err)
	require.Equal(t, texts(view.Messages), texts(projected))
	for _, m := range view.Messages {
		require.Nil(t, m.Metadata())
	}
	b.replace(nil, memory.Slot{Name: "p", Provider: recalls(memory.Item{ID: "k", Content: "v2"})})
	require.Empty(t, b.start("q3").Records, "the same content again is a no-op")
}

func TestInputWithAnAttributionIsRefused(t *testing.T) {
	t.Parallel()
	whole := `{"batchIndex":0,"namespaceKey":"memns1_x","operationId":"o","scopeKey":"memscope1_x","slot":"p","version":1}`
	for name, value := range map[string]string{
		"valid": whole, "malformed": `{"version":2}`, "text": `"x"`, "null": `null`, "array": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, nil, memory.Slot{Name: "p", Provider: memory.Handlers{
				Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic("asked") },
			}})
			for _, member := range []string{`"eve.memory"`, `"\u0065ve.memory"`} {
				r := b.request("q")
				forged := decode(t, `{"role":"user","kind":"user","content":"x","metadata":{`+member+`:`+value+`}}`)
				r.Turn.Input = append(r.Turn.Input, forged)
				_, err := b.m.StartTurn(t.Context(), r)
				require.ErrorIs(t, err, memory.ErrForgedRecord)
				c := b.compaction("s")
				c.Checkpoint = append(c.Checkpoint, forged)
				_, err = b.m.CompleteCompaction(t.Context(), c)
				require.ErrorIs(t, err, memory.ErrForgedRecord)
			}
		})
	}
}

func TestOneFailingSlotCommitsNothingOfAny(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	long := strings.Repeat("x", 1025)
	for name, c := range map[string]struct {
		provider memory.Handlers
		want     error
	}{
		"error":        {recallFails(boom), boom},
		"panic":        {memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic(boom) }}, boom},
		"blank":        {recalls(memory.Item{Content: "ok"}, memory.Item{Content: "\ufeff\u3000\n"}), memory.ErrBlankContent},
		"duplicate id": {recalls(memory.Item{ID: "a", Content: "1"}, memory.Item{ID: "a", Content: "2"}), memory.ErrDuplicateItem},
		"long id":      {recalls(memory.Item{ID: long, Content: "1"}), memory.ErrItemID},
		"bytes":        {recalls(memory.Item{Content: "\xff"}), memory.ErrItemText},
		"bytes in id":  {recalls(memory.Item{ID: "\xff", Content: "x"}), memory.ErrItemText},
		"goexit": {memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
			runtime.Goexit()
			return nil, nil
		}}, memory.ErrProvider},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var j journal
			sibling := func(name string) memory.Slot {
				return memory.Slot{Name: name, Provider: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
					j.add("%s", name)
					return []memory.Item{{Content: "ok"}}, nil
				}}}
			}
			b := newBundle(t, nil, sibling("a"), memory.Slot{Name: "b", Provider: c.provider}, sibling("c"), memory.Slot{Name: "d", Provider: recallFails(errors.New("later"))})
			r := b.request("q")
			view, err := b.m.StartTurn(t.Context(), r)
			require.Nil(t, view)
			require.ErrorIs(t, err, c.want)
			var slot *memory.SlotError
			require.ErrorAs(t, err, &slot)
			require.Equal(t, "b", slot.Slot, "the first error in slot order")
			require.NotErrorIs(t, err, memory.ErrCancelled)
			require.ElementsMatch(t, []string{"a", "c"}, j.all(), "all are awaited")
			require.True(t, r.Bookkeeping.IsZero())
			require.Empty(t, r.History)
		})
	}
}

func TestResolverFailureStopsTheStartBeforeAnyRecall(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for name, slot := range map[string]memory.Slot{
		"scope":     {Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { return scope.String("u"), boom })},
		"panic":     {Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { panic(boom) })},
		"namespace": {Namespace: scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { return "n", boom })},
		"limit": {Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			return scope.String(strings.Repeat("s", 2000)), nil
		})},
		"goexit": {Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			runtime.Goexit()
			return scope.Scope{}, nil
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slot.Name, slot.Provider = "p", recalls()
			other := memory.Slot{Name: "o", Provider: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic("asked") }}}
			b := newBundle(t, nil, other, slot)
			_, err := b.m.StartTurn(t.Context(), b.request("q"))
			var failed *memory.SlotError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "p", failed.Slot)
			if name == "limit" {
				require.ErrorIs(t, err, scope.ErrComponentTooLong)
			} else if name != "goexit" {
				require.ErrorIs(t, err, boom)
			}
			require.NotContains(t, err.Error(), "sss")
		})
	}
}

func TestEndOfTheTurnsContextReturnsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		b := newBundle(t, nil, memory.Slot{Name: "deaf", Provider: memory.Handlers{
			Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
				time.Sleep(time.Hour) // far past the deadline, whatever the context says
				close(late)
				return []memory.Item{{Content: "late"}}, nil
			},
		}}, memory.Slot{Name: "quick", Provider: recalls(memory.Item{Content: "x"})})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		view, err := b.m.StartTurn(ctx, b.request("q"))
		require.Nil(t, view)
		require.ErrorIs(t, err, memory.ErrCancelled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		<-late
		synctest.Wait()
	})
}

func TestEndOfTheContextDuringResolvingAndToolsReturnsAtOnce(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"scope", "tools"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slot := memory.Slot{Name: "p", Provider: recalls()}
				if phase == "scope" {
					slot.Scope = scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
						time.Sleep(time.Hour)
						return scope.String("u"), nil
					})
				} else {
					slot.Provider = memory.Handlers{Recall: recalls().Recall, Tools: func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) {
						time.Sleep(time.Hour)
						return nil, nil
					}}
				}
				b := newBundle(t, nil, slot)
				stop := errors.New("steered")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(stop) })
				began := time.Now()
				_, err := b.m.StartTurn(ctx, b.request("q"))
				require.ErrorIs(t, err, memory.ErrCancelled)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, stop)
				require.Equal(t, time.Second, time.Since(began))
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestCancelledIsDecidedByTheTurnsContextAlone(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recallFails(context.Canceled)})
	_, err := b.m.StartTurn(t.Context(), b.request("q"))
	require.NotErrorIs(t, err, memory.ErrCancelled)
	require.ErrorIs(t, err, memory.ErrProvider)

	b = newBundle(t, nil, memory.Slot{Name: "p", Provider: recallFails(memory.ErrCancelled)})
	_, err = b.m.StartTurn(t.Context(), b.request("q"))
	require.NotErrorIs(t, err, memory.ErrCancelled)
	require.ErrorContains(t, err, memory.ErrCancelled.Error())

	quiet := newBundle(t, nil, memory.Slot{Name: "p", Provider: memory.Handlers{
		Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic(memory.ErrCancelled) },
	}})
	_, err = quiet.m.StartTurn(t.Context(), quiet.request("q"))
	require.NotErrorIs(t, err, memory.ErrCancelled)
	observed := newBundle(t, &memory.Options{Observer: &memory.Observer{
		CallStarted: func(context.Context, *memory.Call) context.Context { panic(memory.ErrCancelled) },
	}}, memory.Slot{Name: "p", Provider: recalls()})
	_, err = observed.m.StartTurn(t.Context(), observed.request("q"))
	require.NotErrorIs(t, err, memory.ErrCancelled)

	ctx, cancel := context.WithCancel(t.Context())
	b = newBundle(t, nil, memory.Slot{Name: "p", Provider: memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
		cancel()
		return nil, errors.New("looks like a failure")
	}}})
	_, err = b.m.StartTurn(ctx, b.request("q"))
	require.ErrorIs(t, err, memory.ErrCancelled)
	require.NotErrorIs(t, err, memory.ErrProvider)

	b = newBundle(t, nil)
	_, err = b.m.StartTurn(ctx, b.request("q"))
	require.ErrorIs(t, err, memory.ErrCancelled, "also without slots")

	b = newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(), Scope: scope.ResolverFunc(
		func(context.Context, *scope.Request) (scope.Scope, error) { panic("asked") },
	)})
	_, err = b.m.StartTurn(ctx, b.request("q"))
	require.ErrorIs(t, err, memory.ErrCancelled, "and nobody is asked")
}

func TestSlotTimeoutBindsAProviderThatIgnoresIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deaf := func(context.Context, *memory.TurnStarted) ([]memory.Item, error) {
			time.Sleep(time.Hour)
			return []memory.Item{{Content: "late"}}, nil
		}
		hears := func(ctx context.Context, _ *memory.TurnStarted) ([]memory.Item, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		for _, recall := range []func(context.Context, *memory.TurnStarted) ([]memory.Item, error){deaf, hears} {
			b := newBundle(t, nil, memory.Slot{Name: "p", Provider: memory.Handlers{Recall: recall}, Timeout: time.Second})
			began := time.Now()
			_, err := b.m.StartTurn(t.Context(), b.request("q"))
			require.ErrorIs(t, err, memory.ErrTimeout)
			require.ErrorIs(t, err, memory.ErrProvider)
			require.NotErrorIs(t, err, memory.ErrCancelled)
			require.Equal(t, time.Second, time.Since(began))
		}
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(memory.Item{Content: "in time"}), Timeout: time.Second})
		require.Equal(t, []string{"in time", "q"}, texts(b.start("q").Messages))
		b = newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(), Timeout: time.Second, Scope: scope.ResolverFunc(
			func(context.Context, *scope.Request) (scope.Scope, error) {
				time.Sleep(time.Hour)
				return scope.String("u"), nil
			},
		)})
		_, err := b.m.StartTurn(t.Context(), b.request("q"))
		require.ErrorIs(t, err, memory.ErrTimeout)
		time.Sleep(2 * time.Hour)
	})
}

func TestBestEffortSlotFailsAlone(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	tools := func(context.Context, *memory.ToolsRequest) ([]memory.Tool, error) { panic("asked for tools") }
	capture := func(context.Context, *memory.TurnCompleted) error { panic("captured") }
	handlers := func(h memory.Handlers) memory.Handlers {
		h.Tools, h.CaptureTurn = tools, capture
		return h
	}
	for name, slot := range map[string]memory.Slot{
		"error":     {Provider: handlers(recallFails(boom))},
		"panic":     {Provider: handlers(memory.Handlers{Recall: func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic(boom) }})},
		"invalid":   {Provider: handlers(recalls(memory.Item{Content: " "}))},
		"resolver":  {Provider: handlers(recalls()), Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { return scope.Scope{}, boom })},
		"namespace": {Provider: handlers(recalls()), Namespace: scope.NamespaceFunc(func(context.Context, *scope.Request) (scope.Namespace, error) { panic(boom) })},
		"limit": {Provider: handlers(recalls()), Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			return scope.Tuple(strings.Repeat("s", 2000)), nil
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var j journal
			var failures []*memory.Event
			slot.Name, slot.BestEffort = "weak", true
			b := newBundle(t, &memory.Options{Logger: j.logger(), Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) {
				if e.Kind == memory.EventSlotFailed {
					failures = append(failures, e)
				}
			}}}, slot, memory.Slot{Name: "strong", Provider: recalls(memory.Item{Content: "kept"})})
			view := b.start("q")
			require.Equal(t, []string{"kept", "q"}, texts(view.Messages))
			require.Empty(t, view.Tools)
			require.Len(t, failures, 1)
			require.Equal(t, "weak", failures[0].Slot)
			require.Error(t, failures[0].Err)
			require.Contains(t, strings.Join(j.all(), "\n"), "best-effort slot failed")
			resumed, err := b.m.ResumeTurn(t.Context(), b.current())
			require.NoError(t, err)
			require.Empty(t, resumed.Tools, "nor after a resumption")
			b.reply("a")
			require.NoError(t, b.complete())
		})
	}
}

func TestBestEffortSlotKeepsItsEarlierRecordsVisible(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "weak", BestEffort: true, Provider: recalls(memory.Item{Content: "earlier"})})
	b.start("q1")
	b.replace(nil, memory.Slot{Name: "weak", BestEffort: true, Provider: recallFails(errors.New("down"))})
	require.Equal(t, []string{"earlier", "q1", "q2"}, texts(b.start("q2").Messages))
	b.replace(nil, memory.Slot{Name: "weak", BestEffort: true, Provider: recalls(memory.Item{Content: "again"})})
	require.Equal(t, []string{"earlier", "q1", "q2", "again", "q3"}, texts(b.start("q3").Messages))
}

func TestSameOperationWithTheSameResultAddsNothing(t *testing.T) {
	t.Parallel()
	items := []memory.Item{{ID: "k", Content: "v"}, {Content: "loose"}}
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(items...)})
	b.start("q")
	view, err := b.m.StartTurn(t.Context(), b.current())
	require.NoError(t, err)
	require.Empty(t, view.Records)
	require.Equal(t, must(json.Marshal(b.book)), must(json.Marshal(view.Bookkeeping)))
}

func TestSameOperationWithAnotherResultIsAnErrorWithAWayOut(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls(memory.Item{Content: "v1"})}, memory.Slot{Name: "q", Provider: recalls()})
	started := b.start("q")
	for _, items := range [][]memory.Item{{{Content: "v2"}}, {}, {{ID: "v1", Content: "v1"}}, {{Content: "v1"}, {Content: "v1"}}} {
		b.replace(nil, memory.Slot{Name: "p", Provider: recalls(items...)}, memory.Slot{Name: "q", Provider: recalls()})
		_, err := b.m.StartTurn(t.Context(), b.current())
		require.ErrorIs(t, err, memory.ErrReplay)
		require.ErrorContains(t, err, "resume the turn")
	}
	resumed, err := b.m.ResumeTurn(t.Context(), b.current())
	require.NoError(t, err)
	require.Equal(t, texts(started.Messages), texts(resumed.Messages))
}

func TestResumedTurnAsksNoRecallAndHasTheSameViewLocksAndTools(t *testing.T) {
	t.Parallel()
	caller := "u_42"
	handlers := recalls(memory.Item{ID: "k", Content: "v"})
	handlers.Tools = func(_ context.Context, r *memory.ToolsRequest) ([]memory.Tool, error) {
		return []memory.Tool{echo(r.Key)}, nil
	}
	resolver := scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) { return scope.String(caller), nil })
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: handlers, Scope: resolver})
	started := b.start("q")
	caller = "u_99" // the resolvers are not asked again
	handlers.Recall = func(context.Context, *memory.TurnStarted) ([]memory.Item, error) { panic("recalled") }
	b.replace(nil, memory.Slot{Name: "p", Provider: handlers, Scope: resolver})
	b.reply("half an answer")
	resumed, err := b.m.ResumeTurn(t.Context(), b.current())
	require.NoError(t, err)
	require.Equal(t, append(texts(started.Messages), "half an answer"), texts(resumed.Messages))
	require.Equal(t, started.Start, resumed.Start)
	require.Empty(t, resumed.Records)
	require.Equal(t, callTool(t, started.Tools[0], `{}`), callTool(t, resumed.Tools[0], `{}`), "bound to the same key")
}

func TestResumeOfATurnThatIsNotOpenIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	r := b.request("never started")
	_, err := b.m.ResumeTurn(t.Context(), r)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
	b.start("q")
	r = b.current()
	r.Turn.Sequence++
	_, err = b.m.ResumeTurn(t.Context(), r)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
	require.NoError(t, b.complete())
	_, err = b.m.ResumeTurn(t.Context(), b.current())
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
}

func TestRequestsNeedTheirIdentifiers(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	for name, spoil := range map[string]func(*memory.TurnStart){
		"session":       func(r *memory.TurnStart) { r.Session.ID = "" },
		"turn":          func(r *memory.TurnStart) { r.Turn.ID = "" },
		"colon":         func(r *memory.TurnStart) { r.Turn.ID = "a:b" },
		"standalone":    func(r *memory.TurnStart) { r.Turn.ID = "standalone" },
		"bytes":         func(r *memory.TurnStart) { r.Turn.ID = "\xff" },
		"session bytes": func(r *memory.TurnStart) { r.Session.ID = "\xff" },
		"sequence":      func(r *memory.TurnStart) { r.Turn.Sequence = -1 },
		"node":          func(r *memory.TurnStart) { r.Session.Node = "other" },
	} {
		r := b.request("q")
		spoil(r)
		_, err := b.m.StartTurn(t.Context(), r)
		require.ErrorIs(t, err, memory.ErrInvalidRequest, name)
		_, err = b.m.ResumeTurn(t.Context(), r)
		require.ErrorIs(t, err, memory.ErrInvalidRequest, name)
		_, err = b.m.CompleteTurn(t.Context(), r)
		require.ErrorIs(t, err, memory.ErrInvalidRequest, name)
	}
}

func TestTurnThatIsOverIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t, nil, memory.Slot{Name: "p", Provider: recalls()})
	b.start("q1")
	require.NoError(t, b.complete())
	_, err := b.m.StartTurn(t.Context(), b.current())
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
	older := b.turn
	b.start("q2")
	r := b.current()
	r.Turn = older
	_, err = b.m.StartTurn(t.Context(), r)
	require.ErrorIs(t, err, memory.ErrTurnNotOpen)
}

func TestLateCallsReadNothingThatTheCallerMayChange(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	release, done := make(chan struct{}), make(chan []string, 1)
	b := newBundle(t, nil, memory.Slot{
		Name: "p",
		Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			return scope.String("u"), nil
		}),
		Provider: memory.Handlers{Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
			cancel()
			<-release
			done <- append(texts(r.Messages), texts(r.Turn.Input)...)
			return []memory.Item{{Content: "late"}}, nil
		}},
	})
	b.history = []memory.Message{memory.UserMessage("h")}
	r := b.request("q")
	_, err := b.m.StartTurn(ctx, r)
	require.ErrorIs(t, err, memory.ErrCancelled)
	clear(r.History)
	clear(r.Turn.Input)
	*r = memory.TurnStart{}
	close(release)
	require.Equal(t, []string{"h", "q"}, <-done)
}

func TestConcurrentTurnsOfOneMemoryAreIndependent(t *testing.T) {
	t.Parallel()
	handlers := memory.Handlers{Recall: func(_ context.Context, r *memory.TurnStarted) ([]memory.Item, error) {
		return []memory.Item{{ID: "d", Content: r.Session.ID}}, nil
	}}
	m := newBundle(t, nil, memory.Slot{Name: "p", Provider: handlers}).m
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			b := &bundle{t: t, m: m, session: memory.SessionInfo{ID: fmt.Sprint(i)}}
			for range 5 {
				require.Equal(t, fmt.Sprint(i), b.start("q").Messages[0].Text())
			}
		})
	}
	group.Wait()
}
