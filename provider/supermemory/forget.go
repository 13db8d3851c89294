package supermemory

import (
	"context"
	"errors"
	"fmt"

	"github.com/recollect-go/recollect/internal/ecma"
)

type forgetInput struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
}

type forgetOutput struct {
	ID        string `json:"id"`
	Forgotten bool   `json:"forgotten"` // false: there is no such memory
}

func (b *bound) forget(ctx context.Context, in forgetInput) (forgetOutput, error) {
	if !idGrammar.MatchString(in.ID) {
		return forgetOutput{}, input("id is not one that was shown")
	}
	forgotten, err := b.provider.api.forget(ctx, forgetName, &forgetRequest{ContainerTag: b.tags.context, ID: in.ID, Reason: in.Reason})
	if errors.Is(err, ErrNotFound) {
		return forgetOutput{ID: in.ID}, nil
	}
	if err != nil {
		return forgetOutput{}, err
	}
	return forgetOutput{ID: in.ID, Forgotten: forgotten}, nil
}

type forgetMatchingInput struct {
	Query     string   `json:"query,omitempty"`
	IDs       []string `json:"ids,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Limit     *int     `json:"limit,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

type forgetMatchingOutput struct {
	Forgotten bool        `json:"forgotten"` // false: this is a preview
	Count     int         `json:"count"`
	Memories  []candidate `json:"memories"`
}

const maxForgotten = 500

func (b *bound) forgetMatching(ctx context.Context, in forgetMatchingInput) (forgetMatchingOutput, error) {
	query := ecma.Trim(in.Query)
	r := &matchingRequest{ContainerTag: b.tags.context, Reason: in.Reason}
	switch {
	case (query == "") == (len(in.IDs) == 0):
		return forgetMatchingOutput{}, input("give either a query, to see what matches, or the ids of what is to be forgotten")
	case query != "":
		if err := errors.Join(checkQuery(query), in.checkBounds()); err != nil {
			return forgetMatchingOutput{}, err
		}
		r.DryRun, r.Query, r.Threshold, r.MaxForget = true, query, in.Threshold, in.Limit
	default:
		if err := in.checkIDs(); err != nil {
			return forgetMatchingOutput{}, err
		}
		r.IDs = in.IDs
	}
	reply, err := b.provider.api.forgetMatching(ctx, r)
	if err != nil {
		return forgetMatchingOutput{}, err
	}
	return forgetMatchingOutput{Forgotten: !r.DryRun, Count: reply.Count, Memories: append([]candidate{}, reply.found()...)}, nil
}

func (in *forgetMatchingInput) checkBounds() error {
	if in.Threshold != nil && (*in.Threshold < 0 || *in.Threshold > 1) {
		return input("threshold is not between 0 and 1")
	}
	if in.Limit != nil && (*in.Limit < 1 || *in.Limit > maxForgotten) {
		return input(fmt.Sprintf("limit is not between 1 and %d", maxForgotten))
	}
	return nil
}

func (in *forgetMatchingInput) checkIDs() error {
	if len(in.IDs) > maxForgotten {
		return input(fmt.Sprintf("more than %d ids; forget them in several calls", maxForgotten))
	}
	if in.Threshold != nil || in.Limit != nil {
		return input("threshold and limit belong to the first step")
	}
	for _, id := range in.IDs {
		if !idGrammar.MatchString(id) {
			return input("an id is not one that was shown")
		}
	}
	return nil
}
