package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/recollect-go/recollect/memory"
	"github.com/recollect-go/recollect/state"
)

// incident is what a session works on. The model sees it only through the tools.
type incident struct {
	ID      string   `json:"id"`
	Checked []string `json:"checked"`
}

var openIncident = state.Define("opsbot.incident", func() incident { return incident{Checked: []string{}} })

var errNoIncident = errors.New("no incident is open; call start_incident first")

type startInput struct {
	ID string `json:"id"`
}

type checkInput struct {
	Service string `json:"service"`
}

func incidentTools() ([]memory.Tool, error) {
	start, startErr := memory.NewTool("start_incident", "Open an incident in this session, in place of the one that is open.",
		stringInput("id"), startIncident)
	check, checkErr := memory.NewTool("check_service", "Record that a service was checked during the open incident.",
		stringInput("service"), checkService)
	show, showErr := memory.NewTool("show_incident", "Show the open incident and the services checked so far.",
		json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`), showIncident)
	return []memory.Tool{start, check, show}, errors.Join(startErr, checkErr, showErr)
}

func stringInput(member string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"` + member + `":{"type":"string","minLength":1}},"required":["` +
		member + `"],"additionalProperties":false}`)
}

func startIncident(ctx context.Context, in startInput) (incident, error) {
	if in.ID == "" {
		return incident{}, errors.New("the id is empty")
	}
	return openIncident.Update(ctx, func(incident) (incident, error) {
		return incident{ID: in.ID, Checked: []string{}}, nil
	})
}

func checkService(ctx context.Context, in checkInput) (incident, error) {
	if in.Service == "" {
		return incident{}, errors.New("the service is empty")
	}
	return openIncident.Update(ctx, func(v incident) (incident, error) {
		if v.ID == "" {
			return v, errNoIncident
		}
		if !slices.Contains(v.Checked, in.Service) {
			v.Checked = append(v.Checked, in.Service)
		}
		return v, nil
	})
}

func showIncident(ctx context.Context, _ struct{}) (incident, error) {
	v, err := openIncident.Get(ctx)
	if err == nil && v.ID == "" {
		err = errNoIncident
	}
	return v, err
}
