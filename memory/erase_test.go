package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/recollect-go/recollect/filememory"
	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/scope"
	"github.com/recollect-go/recollect/state"
)

// vault is a provider that keeps texts by key.
type vault struct {
	mu     sync.Mutex
	texts  map[string][]string
	erases int
	broken error // returned by erase and export
}

func newVault(tenants ...string) *vault {
	v := &vault{texts: make(map[string][]string)}
	for _, name := range tenants {
		v.texts[keyOf(app, name)] = []string{"one of " + name, "two of " + name}
	}
	return v
}

func (v *vault) of(tenant string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.texts[keyOf(app, tenant)])
}

func (v *vault) handlers() memory.Handlers {
	h := memory.Handlers{
		Recall: func(_ context.Context, r *memory.TurnStarted) (items []memory.Item, err error) {
			v.mu.Lock()
			defer v.mu.Unlock()
			for _, text := range v.texts[r.Key] {
				items = append(items, memory.Item{Content: text})
			}
			return items, nil
		},
		CaptureTurn: func(_ context.Context, r *memory.TurnCompleted) error {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.texts[r.Key] = append(v.texts[r.Key], texts(r.Turn.Input)...)
			return nil
		},
		Erase: func(_ context.Context, r *memory.EraseRequest) error {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.erases++
			if v.broken == nil {
				delete(v.texts, r.Key)
			}
			return v.broken
		},
	}
	h.Export = func(_ context.Context, r *memory.ExportRequest) error {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.broken != nil {
			return v.broken
		}
		for i, text := range v.texts[r.Key] {
			if err := r.Write(&memory.ExportedRecord{Kind: "text", ID: string(rune('a' + i)), Content: text}); err != nil {
				return err
			}
		}
		return nil
	}
	return h
}

func (v *vault) slot(name string) memory.Slot {
	return memory.Slot{Name: name, Provider: v.handlers(), Scope: byCurrent}
}

// bare is the vault's slot without an export.
func (v *vault) bare(name string) memory.Slot {
	h := v.handlers()
	h.Export = nil
	return memory.Slot{Name: name, Provider: h, Scope: byCurrent}
}

func caller(name string) memory.SessionInfo { return memory.SessionInfo{Current: tenant(name)} }

func TestErasingATenantLeavesTheOther(t *testing.T) {
	t.Parallel()
	a, b := newVault("acme", "evil"), newVault("acme", "evil")
	var events []memory.Event
	bundle := newBundle(t, &memory.Options{Observer: &memory.Observer{Happened: func(_ context.Context, e *memory.Event) { events = append(events, *e) }}},
		a.slot("a"), b.bare("b"))
	erasure, err := bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.NoError(t, err)
	key := keyOf(app, "acme")
	require.Equal(t, []memory.SlotReport{
		{Slot: "a", Key: key, Status: memory.SlotDone, Records: 2, VerifiedBy: "export"},
		{Slot: "b", Key: key, Status: memory.SlotDone, Records: -1, VerifiedBy: "recall"},
	}, erasure.Slots)
	for _, v := range []*vault{a, b} {
		require.Empty(t, v.of("acme"))
		require.Equal(t, []string{"one of evil", "two of evil"}, v.of("evil"))
	}
	require.Equal(t, []memory.Event{
		{Kind: memory.EventErased, Node: scope.RootNode, Slot: "a", Phase: memory.PhaseErase, Records: 2},
		{Kind: memory.EventErased, Node: scope.RootNode, Slot: "b", Phase: memory.PhaseErase, Records: -1},
	}, events)

	erasure, err = bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.NoError(t, err, "again")
	require.Zero(t, erasure.Slots[0].Records)
}

func TestErasureThatFailedInPartCanBeRunAgain(t *testing.T) {
	t.Parallel()
	a, b, c := newVault("acme"), newVault("acme"), newVault("acme")
	b.broken = errDown
	tolerated := b.slot("b")
	tolerated.BestEffort = true
	bundle := newBundle(t, nil, a.slot("a"), tolerated, c.slot("c"))
	erasure, err := bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, err, memory.ErrProvider)
	require.ErrorContains(t, err, `slot "b", erase`)
	require.NotContains(t, err.Error(), "u_42")
	require.Equal(t, []memory.SlotStatus{memory.SlotDone, memory.SlotFailed, memory.SlotDone}, statuses(erasure.Slots))
	require.ErrorIs(t, erasure.Slots[1].Err, errDown, "best effort is about turns")
	require.Empty(t, a.of("acme"))
	require.Empty(t, c.of("acme"))

	b.broken = nil
	erasure, err = bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 0}, []int{erasure.Slots[0].Records, erasure.Slots[1].Records, erasure.Slots[2].Records})
	require.Empty(t, b.of("acme"))
}

func statuses(reports []memory.SlotReport) []memory.SlotStatus {
	all := make([]memory.SlotStatus, len(reports))
	for i, r := range reports {
		all[i] = r.Status
	}
	return all
}

func TestErasureNamesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	v := newVault("acme")
	bundle := newBundle(t, nil,
		memory.Slot{Name: "fixed", Provider: recalls(), Scope: byCurrent},
		v.slot("nobody"),
		v.slot("a"),
		memory.Slot{Name: "off", Provider: v.handlers(), Scope: scope.ByChannel("thread")},
		memory.Slot{Name: "rude", Provider: v.handlers(), Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			panic("secret")
		})},
		memory.Slot{Name: "unsure", Provider: v.handlers(), Scope: scope.ResolverFunc(func(context.Context, *scope.Request) (scope.Scope, error) {
			return scope.Scope{}, errDown
		})})
	erasure, err := bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, err, errDown)
	require.ErrorContains(t, err, `slot "fixed", erase: the provider has no Erase`)
	require.ErrorContains(t, err, `slot "rude", scope: panic of type string`)
	require.NotContains(t, err.Error(), "secret")
	require.Equal(t, []memory.SlotStatus{
		memory.SlotUnsupported, memory.SlotDone, memory.SlotDone, memory.SlotDisabled, memory.SlotFailed, memory.SlotFailed,
	}, statuses(erasure.Slots))
	require.Empty(t, erasure.Slots[3].Key)
	require.Empty(t, v.of("acme"))

	_, err = bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme"), Slots: []string{"a", "other"}})
	require.ErrorIs(t, err, memory.ErrInvalidRequest)
	erasure, err = bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme"), Slots: []string{"a"}})
	require.NoError(t, err)
	require.Len(t, erasure.Slots, 1)
	_, err = bundle.m.Erase(t.Context(), &memory.EraseCall{Session: memory.SessionInfo{Node: "other"}})
	require.ErrorIs(t, err, memory.ErrInvalidRequest)
}

func TestErasureReadsAgain(t *testing.T) {
	t.Parallel()
	for name, exports := range map[string]bool{"export": true, "recall": false} {
		v := newVault("acme")
		h := v.handlers()
		h.Erase = func(context.Context, *memory.EraseRequest) error { return nil }
		if !exports {
			h.Export = nil
		}
		bundle := newBundle(t, nil, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
		erasure, err := bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.ErrorIs(t, err, memory.ErrNotErased)
		require.ErrorContains(t, err, "2 records")
		require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status)
		require.Equal(t, name, erasure.Slots[0].VerifiedBy)
	}
}

func TestErasureOfSomethingDamagedCannotCountItAndErasesIt(t *testing.T) {
	t.Parallel()
	backend := filememory.InMemory()
	files, err := filememory.New(backend, nil)
	require.NoError(t, err)
	key := keyOf(app, "acme")
	for _, content := range []string{"no file memory", "\xff"} {
		_, err = backend.Write(t.Context(), key, []byte(content), "")
		require.NoError(t, err)
		bundle := newBundle(t, nil, memory.Slot{Name: "p", Provider: files, Scope: byCurrent})
		erasure, err := bundle.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.NoError(t, err)
		require.Equal(t, memory.SlotDone, erasure.Slots[0].Status)
		require.Equal(t, map[string]int{"no file memory": 1, "\xff": -1}[content], erasure.Slots[0].Records)
	}
}

func TestErasureIsCancelledWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVault("acme")
		deaf := v.handlers()
		deaf.Erase = func(context.Context, *memory.EraseRequest) error {
			time.Sleep(time.Hour)
			return nil
		}
		rude := v.handlers()
		rude.Erase = func(context.Context, *memory.EraseRequest) error { panic("secret") }
		bundle := newBundle(t, nil, memory.Slot{Name: "rude", Provider: rude, Scope: byCurrent}, v.slot("a"),
			memory.Slot{Name: "deaf", Provider: deaf, Scope: byCurrent}, v.slot("z"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		erasure, err := bundle.m.Erase(ctx, &memory.EraseCall{Session: caller("acme")})
		require.Equal(t, time.Second, time.Since(began))
		require.ErrorIs(t, err, memory.ErrCancelled)
		require.ErrorContains(t, err, `slot "rude", erase: panic of type string`)
		require.Equal(t, []memory.SlotStatus{memory.SlotFailed, memory.SlotDone, memory.SlotFailed, memory.SlotFailed}, statuses(erasure.Slots))
		require.NotErrorIs(t, erasure.Slots[0].Err, memory.ErrCancelled)
		require.ErrorIs(t, erasure.Slots[3].Err, memory.ErrCancelled)
		require.Equal(t, 1, v.erases, "nothing was begun after the end")
		time.Sleep(2 * time.Hour)

		erasure, err = bundle.m.Erase(ctx, &memory.EraseCall{Session: caller("acme")})
		require.ErrorIs(t, err, memory.ErrCancelled)
		require.Nil(t, erasure)
	})
}

func TestErasureDropsTheCapturesOfItsKeysOnly(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	o := outbox(t, store)
	mine, shared := keeper{fails: errDown}, keeper{fails: errDown}
	own := newVault("acme", "evil")
	profile, workspace := own.handlers(), recalls()
	profile.CaptureTurn, workspace.CaptureTurn = mine.handlers().CaptureTurn, shared.handlers().CaptureTurn
	slots := []memory.Slot{{Name: "profile", Provider: profile, Scope: byCurrent}, {Name: "workspace", Provider: workspace}}
	b := newBundle(t, &memory.Options{Outbox: o}, slots...)
	for _, name := range []string{"acme", "evil"} {
		b.session.Current = tenant(name)
		b.start("words of " + name)
		require.ErrorIs(t, b.complete(), errDown)
	}
	erasure, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme"), Slots: []string{"profile"}})
	require.NoError(t, err)
	require.Equal(t, 1, erasure.Slots[0].Captures)
	left := map[string]int{}
	for _, turn := range pending(t, o) {
		for _, c := range turn.Captures {
			left[c.Slot+" "+c.Key]++
		}
	}
	everybody := must(scope.Derive(app, scope.String("u_42"))).Key
	require.Equal(t, map[string]int{"profile " + keyOf(app, "evil"): 1, "workspace " + everybody: 2}, left)
	require.EqualValues(t, 1, stats(t, o).CapturesDropped)

	damaged := "memout1_" + strings.Repeat("A", 43)
	_, err = store.Write(t.Context(), damaged, []byte(`{}`), "")
	require.NoError(t, err)
	erasure, err = b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("evil"), Slots: []string{"profile"}})
	require.ErrorIs(t, err, memory.ErrMalformed, "what cannot be read may be the caller's")
	require.ErrorContains(t, err, damaged)
	require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status)
	require.Empty(t, own.of("evil"), "the rest is erased all the same")
	require.NoError(t, o.Discard(t.Context(), damaged))
	_, err = b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("evil"), Slots: []string{"profile"}})
	require.NoError(t, err)
}

func TestErasureWaitsForACaptureThatIsRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := outbox(t, state.InMemory())
		v := newVault()
		h := v.handlers()
		capture := h.CaptureTurn
		h.CaptureTurn = func(ctx context.Context, r *memory.TurnCompleted) error {
			time.Sleep(10 * time.Second)
			return capture(ctx, r)
		}
		b := newBundle(t, &memory.Options{Outbox: o}, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
		b.session.Current = tenant("acme")
		b.start("words")
		go func() { assert.NoError(t, b.complete()) }()
		time.Sleep(time.Second)
		erasure, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.NoError(t, err)
		require.Equal(t, 1, erasure.Slots[0].Records)
		synctest.Wait()
		require.Empty(t, v.of("acme"))
		require.Empty(t, pending(t, o))
	})
}

func TestErasureTellsThatATurnWasCompletedMeanwhile(t *testing.T) {
	t.Parallel()
	o := outbox(t, state.InMemory())
	k := keeper{fails: errDown}
	v := newVault("acme")
	h := v.handlers()
	h.CaptureTurn = k.handlers().CaptureTurn
	var b *bundle
	erase := h.Erase
	h.Erase = func(ctx context.Context, r *memory.EraseRequest) error {
		assert.ErrorIs(t, b.complete(), errDown)
		return erase(ctx, r)
	}
	b = newBundle(t, &memory.Options{Outbox: o}, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
	b.session.Current = tenant("acme")
	b.start("words")
	_, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.ErrorIs(t, err, memory.ErrNotErased)
	require.NotContains(t, err.Error(), "u_42")
}

func TestErasedRecordsLiveOnInOpenSessionsUntilTheyAreForgotten(t *testing.T) {
	t.Parallel()
	v := newVault("acme")
	b := newBundle(t, nil, v.slot("p"))
	s, err := b.m.NewSession(nil)
	require.NoError(t, err)
	turn, err := s.Begin(t.Context(), &memory.Delivery{Current: tenant("acme"), Input: []memory.Message{memory.UserMessage("q")}})
	require.NoError(t, err)
	turn.Fail()
	_, err = b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.NoError(t, err)
	snapshot := func() string { return string(must(s.Snapshot())) }
	require.Contains(t, snapshot(), "one of acme")
	n, err := s.Forget(t.Context(), "p")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.NotContains(t, snapshot(), "one of acme")
	var out bytes.Buffer
	_, err = b.m.Export(t.Context(), &memory.ExportCall{Session: caller("acme")}, &out)
	require.NoError(t, err)
	require.NotContains(t, out.String(), "one of acme")
}

func TestErasureTellsOfRecordsThatCannotBeReadByTheirNumber(t *testing.T) {
	t.Parallel()
	store := state.InMemory()
	for i := range 300 {
		_, err := store.Write(t.Context(), fmt.Sprintf("memout1_%043d", i), []byte(`{}`), "")
		require.NoError(t, err)
	}
	b := newBundle(t, &memory.Options{Outbox: outbox(t, store)}, newVault("acme").slot("p"))
	erasure, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status)
	require.ErrorContains(t, err, "300 records")
	require.Less(t, len(err.Error()), 1000)
}

func TestErasureFailsWithAnOutboxThatCannotBeLookedThrough(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]*tampered{"list": {list: errDown}, "delete": {remove: errDown}} {
		store.OutboxStore = state.InMemory()
		o := outbox(t, store)
		k := keeper{fails: errDown}
		v := newVault("acme")
		h := v.handlers()
		h.CaptureTurn = k.handlers().CaptureTurn
		b := newBundle(t, &memory.Options{Outbox: o}, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
		b.session.Current = tenant("acme")
		b.start("words")
		require.ErrorIs(t, b.complete(), errDown)
		erasure, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.ErrorIs(t, err, errDown, name)
		require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status, name)
		require.Zero(t, erasure.Slots[0].Captures, name)
		require.Empty(t, v.of("acme"), "the rest is erased all the same")

		store.list, store.remove = nil, nil
		erasure, err = b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.NoError(t, err, name)
		require.Equal(t, 1, erasure.Slots[0].Captures, name)
	}
}

func TestErasureThatEndsWhileItWaitsForACaptureFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newVault("acme")
		h := v.handlers()
		h.CaptureTurn = func(context.Context, *memory.TurnCompleted) error {
			time.Sleep(10 * time.Second)
			return nil
		}
		b := newBundle(t, &memory.Options{Outbox: outbox(t, state.InMemory())}, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
		b.session.Current = tenant("acme")
		b.start("words")
		go func() { assert.NoError(t, b.complete()) }()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		erasure, err := b.m.Erase(ctx, &memory.EraseCall{Session: caller("acme")})
		require.ErrorIs(t, err, memory.ErrCancelled)
		require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status)
		time.Sleep(time.Minute)
		synctest.Wait()
	})
}

func TestErasureThatCannotReadAgainFails(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"export", "recall"} {
		v := newVault("acme")
		h := v.handlers()
		erase := h.Erase
		erased := false
		h.Erase = func(ctx context.Context, r *memory.EraseRequest) error {
			erased = true
			return erase(ctx, r)
		}
		if by == "export" {
			export := h.Export
			h.Export = func(ctx context.Context, r *memory.ExportRequest) error {
				if erased {
					return errDown
				}
				return export(ctx, r)
			}
		} else {
			h.Export, h.Recall = nil, recallFails(errDown).Recall
		}
		b := newBundle(t, nil, memory.Slot{Name: "p", Provider: h, Scope: byCurrent})
		erasure, err := b.m.Erase(t.Context(), &memory.EraseCall{Session: caller("acme")})
		require.ErrorIs(t, err, errDown, by)
		require.ErrorContains(t, err, "reading again", by)
		require.Equal(t, memory.SlotFailed, erasure.Slots[0].Status, by)
		require.Equal(t, by, erasure.Slots[0].VerifiedBy)
	}
}
