package proxy_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/recollect-go/recollect/internal/integration/proxy"
	"github.com/recollect-go/recollect/internal/leak"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { leak.Main(m) }

// echo answers every connection with what it receives, in upper case, and returns the address and what it received so far.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				buf := make([]byte, 1024)
				for {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					if _, err := conn.Write(bytes.ToUpper(buf[:n])); err != nil {
						return
					}
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func dial(t *testing.T, p *proxy.Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// say sends text and returns the answer, which is cut short when the connection is.
func say(t *testing.T, conn net.Conn, text string) string {
	t.Helper()
	_, _ = io.WriteString(conn, text)
	answer := make([]byte, len(text))
	n, _ := io.ReadFull(conn, answer)
	return string(answer[:n])
}

func TestAProxyPassesEverythingUntilItIsToldToCut(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p)
	require.Equal(t, "HELLO", say(t, conn, "hello"))
	p.CutAll()
	require.Empty(t, say(t, conn, "hello"))
	require.Equal(t, "AGAIN", say(t, dial(t, p), "again"))
	require.Equal(t, 1, p.Cuts())
}

func TestACutLetsThroughTheBytesBeforeIt(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	p.CutWith(func() *proxy.Cut { return &proxy.Cut{After: 8, Direction: proxy.Request} })
	conn := dial(t, p)
	require.Equal(t, "HELLO", say(t, conn, "hello"))
	require.Less(t, len(say(t, conn, "hello")), len("hello"))
	require.Equal(t, 1, p.Cuts())
}

func TestATrapCutsOnce(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	conn := dial(t, p)
	p.CutOn(proxy.Reply, func(data []byte) bool { return bytes.Contains(data, []byte("SECRET")) })
	require.Equal(t, "HELLO", say(t, conn, "hello"))
	require.Empty(t, say(t, conn, "secret"))
	require.Equal(t, "SECRET", say(t, dial(t, p), "secret"))
	require.Equal(t, 1, p.Cuts())
}

func TestANilPlanSparesTheConnectionsThatWereToBeCut(t *testing.T) {
	t.Parallel()
	p := proxy.Start(t, echo(t))
	p.CutWith(func() *proxy.Cut { return &proxy.Cut{After: 8, Direction: proxy.Request} })
	conn := dial(t, p)
	require.Equal(t, "HELLO", say(t, conn, "hello"))
	p.CutWith(nil)
	require.Equal(t, "HELLO", say(t, conn, "hello"))
	require.Equal(t, "HELLO", say(t, conn, "hello"))
}
