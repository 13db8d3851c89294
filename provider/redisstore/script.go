package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // the server names scripts by SHA-1
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"
)

// script is a program for the server. It runs on one key and nothing comes between its commands.
type script struct{ source, digest string }

func newScript(source string) script {
	sum := sha1.Sum([]byte(source)) //nolint:gosec // see the import
	return script{source: source, digest: hex.EncodeToString(sum[:])}
}

// Answers of the scripts: a list of a word and, but for done, a detail.
const (
	wordDone     = "done"
	wordConflict = "conflict" // detail: the stored version, "" when there is no document
	wordShape    = "shape"    // detail: the type of the key
)

type answer struct{ word, detail string }

// readVersion begins each script. It leaves the stored version in current, "" when the key does not exist, and ends the
// script when the key holds something that is not a document.
const readVersion = `
local current = redis.pcall('HGET', KEYS[1], 'version')
if type(current) == 'table' then
  if not string.find(current.err, 'WRONGTYPE', 1, true) then return current end
  return {'shape', redis.call('TYPE', KEYS[1]).ok}
end
if not current or current == '' or redis.call('HEXISTS', KEYS[1], 'content') == 0 then
  if redis.call('EXISTS', KEYS[1]) == 1 then return {'shape', 'hash'} end
  current = ''
end
`

var (
	// writeScript takes content, expected version, time to live in seconds, new version. The version that it is about to
	// write can only be there when the same call was carried out before. A script that fails half-way is not undone, so the
	// right to the second command is asked before the first one (Redis 7 and Valkey tell).
	writeScript = newScript(readVersion + `
if current == ARGV[4] then return {'done'} end
if current ~= ARGV[2] then return {'conflict', current} end
local keep = {'PERSIST', KEYS[1]}
if ARGV[3] ~= '0' then keep = {'EXPIRE', KEYS[1], ARGV[3]} end
if redis.acl_check_cmd and not redis.acl_check_cmd(unpack(keep)) then
  return redis.error_reply('NOPERM this user may not run ' .. keep[1])
end
redis.call('HSET', KEYS[1], 'content', ARGV[1], 'version', ARGV[4])
redis.call(unpack(keep))
return {'done'}
`)

	// deleteScript takes the expected version. Its last argument only tells that it was sent.
	deleteScript = newScript(readVersion + `
if current == '' then return {'done'} end
if current ~= ARGV[1] then return {'conflict', current} end
redis.call('DEL', KEYS[1])
return {'done'}
`)
)

// run carries out program on the document of key, by its digest, or whole when the server does not know it yet. The
// sending goes last among the arguments.
func (s *Store) run(ctx context.Context, program script, key string, sent *sending, args ...any) (answer, error) {
	args = append(args, sent)
	reply, err := s.evaluate(ctx, "evalsha", program.digest, key, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		sent.retract()
		reply, err = s.evaluate(ctx, "eval", program.source, key, args)
	}
	if err != nil {
		return answer{}, err
	}
	return parseAnswer(reply)
}

func (s *Store) evaluate(ctx context.Context, command, program, key string, args []any) (any, error) {
	cmd := redis.NewCmd(ctx, append([]any{command, program, 1, s.prefix + key}, args...)...)
	cmd.SetFirstKeyPos(3)
	if err := s.workers.prompt(ctx, func() error { return s.client.Process(ctx, cmd) }); err != nil {
		return nil, err
	}
	return cmd.Val(), nil
}

var errAnswer = errors.New("server's answer is not that of the script")

func parseAnswer(reply any) (answer, error) {
	list, _ := reply.([]any)
	var parts [2]string
	if len(list) == 0 || len(list) > len(parts) {
		return answer{}, errAnswer
	}
	for i, part := range list {
		text, ok := part.(string)
		if !ok {
			return answer{}, errAnswer
		}
		parts[i] = text
	}
	return answer{word: parts[0], detail: parts[1]}, nil
}
