// Command opsbot is an on-call assistant in a terminal. It remembers people and teams over sessions, and keeps the
// incident of a session in checkpoints, so that it can be killed at any time and resumed.
//
//	go run ./examples/opsbot
//
// Plain lines are turns; /help lists the commands. Without a model's address in the environment a rule-based stand-in answers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "opsbot:", err)
		os.Exit(1)
	}
}

// run is the whole program. It ends without an error at /quit, at the end of the input, and when ctx ends.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out io.Writer) error {
	c, err := parse(args, out)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	c.model, c.modelName = chooseModel(getenv)
	b, err := newBot(c, out)
	if err != nil {
		return err
	}
	err = b.open(ctx, c.session)
	if err == nil {
		err = b.converse(ctx, in)
	}
	return errors.Join(err, b.close())
}

type config struct {
	data         string
	session      string
	profileScope string
	caller       string
	model        Model
	modelName    string
}

func parse(args []string, out io.Writer) (*config, error) {
	c := &config{}
	flags := flag.NewFlagSet("opsbot", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&c.data, "data", "", "folder for memory and state (default: opsbot in the user's cache folder)")
	flags.StringVar(&c.session, "session", "", "name of the session to begin or resume (default: a new one)")
	flags.StringVar(&c.profileScope, "profile-scope", "tenant-principal", "whose the profile is: tenant-principal, principal, or static:NAME, which everybody shares")
	flags.StringVar(&c.caller, "as", "acme/u_42", "caller of a new session, TENANT/USER; a resumed one goes on with its own")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if c.data == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no -data given, and no cache folder: %w", err)
		}
		c.data = filepath.Join(cache, "opsbot")
	}
	return c, nil
}

// chooseModel returns the chat endpoint that the environment names, or the stand-in.
func chooseModel(getenv func(string) string) (Model, string) {
	url, key, id := getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_KEY"), getenv("OPENAI_MODEL")
	if url == "" || key == "" || id == "" {
		return standIn{}, "a rule-based stand-in (set OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL for a model)"
	}
	return newChatEndpoint(url, key, id), id
}
