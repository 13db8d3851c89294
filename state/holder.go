package state

import (
	"math/rand/v2"
	"reflect"
	"runtime"
)

// holder identifies a hold of a lock; 0 is none. It is random, so that two that ever meet on one stack differ.
//
// The function that Update calls receives no context, so nothing that it passes on tells that it runs inside an Update.
// Its stack does: run spells the holder on it, and holdersOnStack, which is asked only when a lock is taken, reads what
// is spelled on its caller's. This costs the common case a few calls; the number of a goroutine, which runtime.Stack
// prints under a lock of the whole process, costs it more than a commit.
type holder uint32

const (
	digitBits = 4
	digits    = 32 / digitBits
)

func newHolder() holder { return holder(rand.Uint32() | 1) }

// run calls fn with h spelled on the stack.
func (h holder) run(fn func()) { spell(uint32(h), digits, fn) }

// spell calls fn below one call of itself for each digit of number, the lowest outermost. The line of the call tells the
// digit.
func spell(number uint32, left int, fn func()) {
	if left == 0 {
		fn()
		return
	}
	switch rest, left := number>>digitBits, left-1; number % (1 << digitBits) {
	case 0:
		spell(rest, left, fn)
	case 1:
		spell(rest, left, fn)
	case 2:
		spell(rest, left, fn)
	case 3:
		spell(rest, left, fn)
	case 4:
		spell(rest, left, fn)
	case 5:
		spell(rest, left, fn)
	case 6:
		spell(rest, left, fn)
	case 7:
		spell(rest, left, fn)
	case 8:
		spell(rest, left, fn)
	case 9:
		spell(rest, left, fn)
	case 10:
		spell(rest, left, fn)
	case 11:
		spell(rest, left, fn)
	case 12:
		spell(rest, left, fn)
	case 13:
		spell(rest, left, fn)
	case 14:
		spell(rest, left, fn)
	case 15:
		spell(rest, left, fn)
	}
}

// Where the calls are in spell, in lines from its first.
const (
	linesToFirstCall = 7
	linesPerCall     = 2
)

// holdersOnStack returns the holders whose run has called, through whatever calls, the caller of this function, the
// innermost first.
func holdersOnStack() []holder {
	var found []holder
	var number uint32
	read := 0
	entry := reflect.ValueOf(spell).Pointer()
	frames := runtime.CallersFrames(stack())
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		digit, ok := digitOf(frame, entry)
		if !ok {
			continue
		}
		number = number<<digitBits | digit
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

// digitOf returns the digit that a frame spells. entry is where spell begins.
func digitOf(frame runtime.Frame, entry uintptr) (digit uint32, ok bool) {
	if frame.Func == nil || frame.Entry != entry {
		return 0, false
	}
	_, first := frame.Func.FileLine(frame.Entry)
	line := frame.Line - first - linesToFirstCall
	if line < 0 { // the innermost frame, which calls fn
		return 0, false
	}
	return uint32(line / linesPerCall), true
}
