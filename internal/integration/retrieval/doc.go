// Package retrieval measures how well notes answers questions about conversations, beside plain BM25 in the same run.
//
//	go test ./retrieval -run TestConversations -v                        # the shipped set
//	go test ./retrieval -run TestConversations -v -set /path/locomo10.json # a set in the format of LoCoMo (snap-research/LoCoMo, CC BY-NC 4.0)
//
// Each turn of a conversation is one note, each question a query. any@k is the share of questions of which one evidence turn
// is among the first k notes, recall@k the mean share of their evidence turns there, all@k the share with all of them there.
// Questions of category 5, which have no answer, are left out. What a set has that cannot be used, such as questions whose
// evidence is not in the conversation, is skipped and counted. The shipped set was written for this purpose and may be used
// like the code.
package retrieval
