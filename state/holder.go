package state

import (
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
)

// holder identifies a hold of a lock; 0 is none.
//
// The function that Update calls receives no context, so only its goroutine tells that it runs inside an Update, and Go
// has no name for a goroutine that costs less than a commit. So run calls fn through functions that spell the holder, one
// for each hexadecimal digit, and holdersOnStack, asked only where somebody must wait, finds their entries on its caller's
// stack. That costs nanoseconds where nobody waits, needs no unsafe code, and never takes one goroutine for another: two
// holders are the same only if 16 million others came and went while one of them stayed.
type holder uint32

const (
	digitBits = 4
	digits    = 6
)

// lastHolder counts the holders of all sessions, since a stack may bear those of several.
var lastHolder atomic.Uint32

func newHolder() holder {
	for {
		if h := lastHolder.Add(1) % (1 << (digits * digitBits)); h != 0 {
			return holder(h)
		}
	}
}

// run calls fn with h spelled on the stack, the lowest digit outermost.
func (h holder) run(fn func()) { spell(uint32(h), digits, fn) }

// spell calls fn below the spellers of left digits of number. The calls are static, so that fn need not escape.
func spell(number uint32, left int, fn func()) {
	if left == 0 {
		fn()
		return
	}
	rest, left := number>>digitBits, left-1
	switch number % (1 << digitBits) {
	case 0x0:
		spell0(rest, left, fn)
	case 0x1:
		spell1(rest, left, fn)
	case 0x2:
		spell2(rest, left, fn)
	case 0x3:
		spell3(rest, left, fn)
	case 0x4:
		spell4(rest, left, fn)
	case 0x5:
		spell5(rest, left, fn)
	case 0x6:
		spell6(rest, left, fn)
	case 0x7:
		spell7(rest, left, fn)
	case 0x8:
		spell8(rest, left, fn)
	case 0x9:
		spell9(rest, left, fn)
	case 0xA:
		spellA(rest, left, fn)
	case 0xB:
		spellB(rest, left, fn)
	case 0xC:
		spellC(rest, left, fn)
	case 0xD:
		spellD(rest, left, fn)
	case 0xE:
		spellE(rest, left, fn)
	case 0xF:
		spellF(rest, left, fn)
	}
}

// The spellers differ in nothing but their entries, so they must stay functions of their own.

//go:noinline
func spell0(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell1(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell2(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell3(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell4(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell5(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell6(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell7(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell8(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spell9(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellA(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellB(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellC(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellD(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellE(rest uint32, left int, fn func()) { spell(rest, left, fn) }

//go:noinline
func spellF(rest uint32, left int, fn func()) { spell(rest, left, fn) }

var spellers = [...]func(rest uint32, left int, fn func()){
	spell0, spell1, spell2, spell3, spell4, spell5, spell6, spell7,
	spell8, spell9, spellA, spellB, spellC, spellD, spellE, spellF,
}

// entries holds where each digit's speller begins.
var entries = func() (all [1 << digitBits]uintptr) {
	for digit, speller := range spellers {
		all[digit] = reflect.ValueOf(speller).Pointer()
	}
	return all
}()

// holdersOnStack returns the holders whose run has called, through whatever calls, the caller of this function, the
// innermost first.
func holdersOnStack() []holder {
	var found []holder
	var number uint32
	read := 0
	frames := runtime.CallersFrames(stack())
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		digit := slices.Index(entries[:], frame.Entry)
		if digit < 0 || frame.Func == nil { // what is inlined into a speller shares its entry, and has no Func
			continue
		}
		number = number<<digitBits | uint32(digit)
		if read++; read == digits {
			found = append(found, holder(number))
			number, read = 0, 0
		}
	}
	return found
}

// stack returns the caller's stack, however deep.
func stack() []uintptr {
	for size := 128; ; size *= 4 {
		pcs := make([]uintptr, size)
		if n := runtime.Callers(0, pcs); n < size {
			return pcs[:n]
		}
	}
}
