package upstash

import "fmt"

// Answers of the scripts: a list of a word and, but for done, a detail.
const (
	wordDone     = "done"
	wordConflict = "conflict" // detail: the stored version, "" when there is no document
	wordShape    = "shape"    // detail: the type of the key
)

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

const (
	// writeScript takes content, expected version, new version, time to live in seconds. The version that it is about to
	// write can only be there when the same call was carried out before.
	writeScript = readVersion + `
if current == ARGV[3] then return {'done'} end
if current ~= ARGV[2] then return {'conflict', current} end
redis.call('HSET', KEYS[1], 'content', ARGV[1], 'version', ARGV[3])
if ARGV[4] == '0' then
  redis.call('PERSIST', KEYS[1])
else
  redis.call('EXPIRE', KEYS[1], ARGV[4])
end
return {'done'}
`

	// deleteScript takes the expected version.
	deleteScript = readVersion + `
if current == '' then return {'done'} end
if current ~= ARGV[1] then return {'conflict', current} end
redis.call('DEL', KEYS[1])
return {'done'}
`
)

type verdict struct{ word, detail string }

func parseVerdict(r reply) (verdict, error) {
	parts, err := r.list()
	if err != nil {
		return verdict{}, err
	}
	if len(parts) == 0 || len(parts) > 2 {
		return verdict{}, fmt.Errorf("%w: it is not that of the script", ErrBadReply)
	}
	var texts [2]string
	for i, part := range parts {
		if texts[i], err = part.must(); err != nil {
			return verdict{}, err
		}
	}
	switch texts[0] {
	case wordDone, wordConflict, wordShape:
		return verdict{word: texts[0], detail: texts[1]}, nil
	}
	return verdict{}, fmt.Errorf("%w: it is not that of the script", ErrBadReply)
}
