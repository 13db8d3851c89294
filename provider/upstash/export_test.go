package upstash

// What the tests' server has to recognize.
const (
	WriteScript  = writeScript
	DeleteScript = deleteScript
)
