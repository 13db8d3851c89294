// Package memory gives an agent facts that outlive a session: partitioned by trusted identity, recalled into the model's
// context before each turn, captured after it, and maintained by the model through tools.
//
// # Parts
//
// A [Slot] is one named memory: a [Provider], which decides what is stored and found, a scope, which says whose it is, and a
// namespace, which says in which application. [New] turns the slots of one agent into a [Memory]. It holds no conversation.
//
// There are two ways to use it. In the stateless one the host owns the history and passes it, with the [Bookkeeping], to
// [Memory.StartTurn], [Memory.CompleteTurn], [Memory.RequestCompaction] and [Memory.CompleteCompaction]; it gets back the
// records to insert, the model's view, the tools and the new bookkeeping, and stores them. A [Session] keeps history,
// bookkeeping and turn flow in one value with a JSON snapshot, and has a summarizing compaction.
//
// # Lifecycle
//
// A turn is one delivery by a user and its answer. At its start every slot is resolved and locked: scope and namespace, and
// so the key of every read and write, hold for the whole turn, also for its tools, even when the caller changes meanwhile.
// Then every slot's provider is asked what the model should see. The answers become records: messages of role user and kind
// "memory.load" in the durable history, directly before the turn's input, attributed to slot, key and operation.
//
// What a model or a provider sees is a projection of that history: without the attributions, without the records of other
// scopes and namespaces, and with the newest value of every item that has an id. Leaving an item out retracts nothing. A
// slot with [VisibilitySession] shows its records to every later caller of the session in its namespace.
//
// After a turn that succeeded, the captures see it, with [Turn].Start telling its own messages from earlier ones. Around a
// compaction the captures see the history before it is summarized, and the recalls are asked again with the new one. The
// summarizer never sees a record.
//
// # Order
//
// Slots keep the order in which they were declared: of records, of tools, and of the errors of which the first is returned.
// Calls of one phase run concurrently, and the next phase begins when all of them have ended: resolvers, then recalls, then
// tools. Every provider of a phase sees the same messages, in a slice of its own.
//
// Each call has an operation id that a retry repeats, an idempotency key for captures. The bookkeeping keeps the digests of
// the newest 1024 recalls: the same answer again adds nothing, another one is [ErrReplay]. A host that may have committed a
// start before it crashed calls [Memory.ResumeTurn], which asks no recall and rebuilds locks, view and tools, whatever was
// stored in between.
//
// # Failure
//
// A start is all or nothing. An error, an invalid answer, a panic or a missed [Slot].Timeout of one slot fails it, and no
// record of any slot is committed. A slot that is declared best-effort fails alone instead: it is logged and observed, and
// has no new records, tools or captures in that turn. Nothing is truncated, dropped or replaced in silence; limits are
// errors.
//
// When the context of a turn ends, the start returns at once, even if a provider ignores its context; what that returns
// later is discarded, and its goroutine ends when it returns. Only then the error matches [ErrCancelled]: a provider that
// returns context.Canceled for reasons of its own has failed.
//
// Captures of a turn run to their end or to [Options].CaptureTimeout, whatever becomes of the request. Their errors are
// logged, observed and returned, and the turn stays complete. With [Options].Outbox they are recorded before they run, and
// tried again until they succeed, also when the process has died. An error of a capture before a compaction stops the
// compaction.
//
// A set of tools that fails or is invalid is left out of the turn, logged and observed. The error of a tool is for the model.
//
// # Concurrency
//
// A Memory, a Bookkeeping and a [Message] may be used by any number of goroutines. Messages and bookkeeping are immutable,
// so a history can be shared and sliced without copying; nothing here changes a slice that it was given. The turns of one
// session follow one another: it is the host, or Session, that sees to it, and that stores history and bookkeeping together,
// in one transaction.
//
// # Security
//
// The key decides what can be read and written, and nothing that a model, a message or a tool call says can change it. There
// is no shared partition to fall back to: a slot without a scope is disabled for the turn.
//
// Only the library writes attributions. A turn's input or a checkpoint that carries one is refused with [ErrForgedRecord],
// and one in the history that this version does not understand is [ErrAttribution], never a guess.
//
// Separation covers records, tools and captures. The ordinary history of a session is shared by everybody who speaks in it:
// what a model has said about a memory, the next caller may read. Captures that keep to the turn's own messages keep
// nobody's words under another's key.
//
// Bookkeeping, snapshots, and tool bindings that are not signed name scopes and callers: they belong into server-side
// storage. Errors and logs of this package never contain a scope, a memory or a credential; the error of a provider is
// passed on as it is.
//
// [Memory.Export] and [Memory.Erase] hand out and remove what all slots keep for one caller. Records that were recalled
// before live on in the history of sessions until [Session.Forget].
//
// Recalled text is data. [SystemPrompt] returns a paragraph that says so to the model.
package memory
