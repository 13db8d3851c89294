package state

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
)

// holder identifies a hold of a lock; 0 is none.
//
// The function that Update calls receives no context, so only its goroutine tells that it runs inside an Update, and Go
// has no name for a goroutine that costs less than a commit. So run calls fn through functions that spell the holder, one
// for each hexadecimal digit, and holdersOnStack, asked only where somebody must wait, finds their entries on its caller's
// stack. That costs nanoseconds where nobody waits, needs no unsafe code, and never takes one goroutine for another.
// Numbers are random rather than counted by session, since a stack may bear holders of several sessions.
type holder uint32

const (
	digitBits = 4
	digits    = 32 / digitBits
)

func newHolder() holder { return holder(rand.Uint32() | 1) }

// run calls fn with h spelled on the stack, the lowest digit outermost.
func (h holder) run(fn func()) {
	number := uint32(h)
	spellerOf(number, digits)(number>>digitBits, digits-1, fn)
}

// speller spells its own digit, then the lowest left digits of rest, and then calls fn.
type speller func(rest uint32, left int, fn func())

// spellerOf returns the speller of the lowest digit of number, or done when no digit is left. It is no table, because a
// table could not refer to functions that refer to it.
func spellerOf(number uint32, left int) speller {
	if left == 0 {
		return done
	}
	switch number % (1 << digitBits) {
	case 0x0:
		return spell0
	case 0x1:
		return spell1
	case 0x2:
		return spell2
	case 0x3:
		return spell3
	case 0x4:
		return spell4
	case 0x5:
		return spell5
	case 0x6:
		return spell6
	case 0x7:
		return spell7
	case 0x8:
		return spell8
	case 0x9:
		return spell9
	case 0xA:
		return spellA
	case 0xB:
		return spellB
	case 0xC:
		return spellC
	case 0xD:
		return spellD
	case 0xE:
		return spellE
	}
	return spellF
}

func done(_ uint32, _ int, fn func()) { fn() }

// The spellers differ in nothing but their entries, so they must stay functions of their own.

//go:noinline
func spell0(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell1(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell2(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell3(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell4(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell5(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell6(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell7(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell8(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spell9(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellA(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellB(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellC(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellD(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellE(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

//go:noinline
func spellF(rest uint32, left int, fn func()) { spellerOf(rest, left)(rest>>digitBits, left-1, fn) }

// entries holds where each digit's speller begins.
var entries = func() (all [1 << digitBits]uintptr) {
	for digit := range all {
		all[digit] = reflect.ValueOf(spellerOf(uint32(digit), 1)).Pointer()
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
		if digit < 0 {
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
