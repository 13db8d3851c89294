package supermemory

import (
	"context"
	"net/http"
	"slices"
)

// memoryEntry is a fact that the service extracted.
type memoryEntry struct {
	ID          string   `json:"id"`
	Memory      string   `json:"memory,omitempty"`
	IsLatest    bool     `json:"isLatest"`
	IsForgotten bool     `json:"isForgotten"`
	IsStatic    bool     `json:"isStatic"`
	CreatedAt   string   `json:"createdAt"`
	DocumentIDs []string `json:"documentIds"`
}

type memoryList struct {
	MemoryEntries []memoryEntry `json:"memoryEntries"`
	Pagination    *pagination   `json:"pagination"`
}

func (l *memoryList) complete() bool {
	return l.MemoryEntries != nil && l.Pagination != nil && !slices.ContainsFunc(l.MemoryEntries, func(m memoryEntry) bool { return m.ID == "" })
}

func (a *api) listMemories(ctx context.Context, operation string, r *listRequest) (*memoryList, error) {
	var reply memoryList
	return &reply, a.call(ctx, operation, http.MethodPost, "/v4/memories/list", r, &reply)
}

type forgetRequest struct {
	ContainerTag string `json:"containerTag"`
	ID           string `json:"id"`
	Reason       string `json:"reason,omitempty"`
}

type forgetReply struct {
	Forgotten *bool `json:"forgotten"`
}

func (r *forgetReply) complete() bool { return r.Forgotten != nil }

// forget reports whether the service forgot the memory.
func (a *api) forget(ctx context.Context, operation string, r *forgetRequest) (bool, error) {
	var reply forgetReply
	if err := a.call(ctx, operation, http.MethodDelete, "/v4/memories", r, &reply); err != nil {
		return false, err
	}
	return *reply.Forgotten, nil
}

type matchingRequest struct {
	ContainerTag string   `json:"containerTag"`
	DryRun       bool     `json:"dryRun"`
	Query        string   `json:"query,omitempty"`
	IDs          []string `json:"ids,omitempty"`
	Threshold    *float64 `json:"threshold,omitempty"`
	MaxForget    *int     `json:"maxForget,omitempty"`
	Reason       string   `json:"reason,omitempty"`
}

type matchingReply struct {
	DryRun     *bool       `json:"dryRun"`
	Count      int         `json:"count"`
	Candidates []candidate `json:"candidates"` // of a dry run
	Forgotten  []candidate `json:"forgotten"`  // of any other
}

type candidate struct {
	ID     string  `json:"id"`
	Memory string  `json:"memory"`
	Score  float64 `json:"score"`
}

func (r *matchingReply) complete() bool { return r.DryRun != nil && (r.Count == 0 || r.found() != nil) }

// found returns what matches, or what was forgotten.
func (r *matchingReply) found() []candidate {
	if *r.DryRun {
		return r.Candidates
	}
	return r.Forgotten
}

func (a *api) forgetMatching(ctx context.Context, r *matchingRequest) (*matchingReply, error) {
	var reply matchingReply
	err := a.call(ctx, "forget_matching", http.MethodPost, "/v4/memories/forget-matching", r, &reply)
	if err == nil && *reply.DryRun != r.DryRun {
		err = badReply("forget_matching")
	}
	return &reply, err
}
