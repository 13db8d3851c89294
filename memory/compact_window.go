package memory

// window says what a compaction keeps verbatim: messages[start:], and messages[user] when user is not -1.
type window struct {
	start int
	user  int // the last message of a person, when it is older than start
}

// kept returns the messages of the window in order.
func (w window) kept(messages []Message) []Message {
	if w.user < 0 {
		return messages[w.start:]
	}
	return append([]Message{messages[w.user]}, messages[w.start:]...)
}

// size returns how many messages the window keeps.
func (w window) size(messages []Message) int {
	if w.user < 0 {
		return len(messages) - w.start
	}
	return len(messages) - w.start + 1
}

// cuts returns every index at which a conversation may be cut in two, in ascending order. Between a tool call and its
// results it may not be cut, and the results stay behind the message that they answer. A call at the very end that waits for
// its results is not cut off either, since they would come back to nothing.
func cuts(messages []Message) []int {
	reach := callReaches(messages)
	var allowed []int
	furthest := 0 // the first index behind everything that the messages so far belong together with
	for i, m := range messages {
		if i >= furthest && m.Role() != RoleTool {
			allowed = append(allowed, i)
		}
		furthest = max(furthest, reach[i])
	}
	if furthest <= len(messages) {
		allowed = append(allowed, len(messages))
	}
	return allowed
}

// callReaches returns for every message the index behind the last result of its calls, or beyond the end when it waits for
// one; 0 for a message without calls. A result belongs to the nearest earlier call of its id, because models use ids again.
func callReaches(messages []Message) []int {
	reach := make([]int, len(messages))
	callers := make(map[string]int)
	for i, m := range messages {
		for _, call := range m.ToolCalls() {
			callers[call.CallID] = i
		}
		for _, result := range m.ToolResults() {
			if caller, known := callers[result.CallID]; known {
				reach[caller] = max(reach[caller], i+1)
			}
		}
	}
	if caller := waitingCaller(messages); caller >= 0 {
		reach[caller] = len(messages) + 1
	}
	return reach
}

// fromPerson reports whether a message was written by a user and not by the library or its host.
func fromPerson(m Message) bool {
	return m.Role() == RoleUser && (m.Kind() == KindUser || m.Kind() == "")
}

// lastFromPerson returns the index of the last message of a person, or -1.
func lastFromPerson(messages []Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if fromPerson(messages[i]) {
			return i
		}
	}
	return -1
}

// recentWindow returns the widest window of at most count messages that weighs no more than budget. When none does, it is
// the narrowest one.
func (p *Policy) recentWindow(messages []Message, allowed []int, count int, budget int64) window {
	weights := suffixWeights(p, messages)
	person := lastFromPerson(messages)
	var w window
	for _, start := range allowed {
		w = window{start: start, user: -1}
		weight := weights[start]
		if person >= 0 && person < start {
			w.user = person
			weight += p.weighMessage(messages[person])
		}
		if w.size(messages) <= count && weight <= budget {
			return w
		}
	}
	if len(allowed) == 0 {
		return window{user: -1}
	}
	return w
}

// suffixWeights returns for every index what the messages from there on weigh.
func suffixWeights(p *Policy, messages []Message) []int64 {
	weights := make([]int64, len(messages)+1)
	for i := len(messages) - 1; i >= 0; i-- {
		weights[i] = weights[i+1] + p.weighMessage(messages[i])
	}
	return weights
}
