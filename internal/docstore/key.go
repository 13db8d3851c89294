package docstore

import "fmt"

// digestLength is the length of an unpadded base64url SHA-256 digest.
const digestLength = 43

// CheckKey returns an error matching ErrInvalidKey unless key matches ^[a-z0-9]+_[A-Za-z0-9_-]{43}$.
func CheckKey(key string) error {
	split := len(key) - digestLength - 1
	if split < 1 || key[split] != '_' {
		return fmt.Errorf("%w: not a prefix, an underscore and %d digest characters", ErrInvalidKey, digestLength)
	}
	for i := range split {
		if !isLower(key[i]) && !isDigit(key[i]) {
			return fmt.Errorf("%w: prefix has a character outside a-z and 0-9", ErrInvalidKey)
		}
	}
	for i := split + 1; i < len(key); i++ {
		if c := key[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && c != '_' && c != '-' {
			return fmt.Errorf("%w: digest has a character outside base64url", ErrInvalidKey)
		}
	}
	return nil
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
