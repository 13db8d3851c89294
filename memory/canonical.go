package memory

// Limits above which a history's records are canonicalized without a summary.
const (
	MaxRecords     = 512
	MaxRecordBytes = 262144 // of the records' JSON
)

// Canonical splits a durable history into its canonical records and its ordinary messages, both in order: the latest value
// of every keyed item and every unkeyed one, for all callers of the session, whether they are visible now or not. The
// records followed by the messages are an equivalent history. A summarizer must see the messages only.
func Canonical(history []Message) (records, messages []Message, err error) {
	if err := usableHistory(history); err != nil {
		return nil, nil, err
	}
	latest := latestRecords(history)
	messages = make([]Message, 0, len(history))
	for i, m := range history {
		a := m.m.attribution
		switch {
		case a == nil:
			messages = append(messages, m)
		case a.itemKey == "" || latest[a.identity] == i:
			records = append(records, m)
		}
	}
	return records, messages, nil
}

// latestRecords returns the index of the last record of every keyed item.
func latestRecords(history []Message) map[identity]int {
	var latest map[identity]int
	for i, message := range history {
		a := message.m.attribution
		if a == nil || a.itemKey == "" {
			continue
		}
		if latest == nil {
			latest = make(map[identity]int)
		}
		latest[a.identity] = i
	}
	return latest
}

// OverRecordLimit reports whether a history holds more than MaxRecords records or their JSON is longer than MaxRecordBytes.
// It is the bare threshold: putting Canonical's parts together is worth it only if that drops a record.
func OverRecordLimit(history []Message) bool {
	records, size := 0, 0
	for _, m := range history {
		if !m.IsRecord() {
			continue
		}
		records++
		size += m.m.size()
		if records > MaxRecords || size > MaxRecordBytes {
			return true
		}
	}
	return false
}

// size returns the length of the message's JSON.
func (m *message) size() int {
	if m.raw != nil {
		return len(m.raw)
	}
	return len(m.append(nil))
}
