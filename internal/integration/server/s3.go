package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// versitygw is the S3-compatible server, a Go module. It is built outside of this module, which would otherwise require
// everything that it does.
const (
	versitygw        = "github.com/versity/versitygw/cmd/versitygw"
	versitygwVersion = "v1.8.0"
)

// S3 is a running S3-compatible server that keeps objects in a folder.
type S3 struct {
	// Address is the loopback host and port.
	Address string
}

// StartS3 starts a server without buckets. It is built first if this user has not built it yet, which takes a minute or two.
func StartS3(t testing.TB) *S3 {
	t.Helper()
	program, err := builtVersitygw()
	if err != nil {
		missing(t, "%s %s cannot be built: %v", versitygw, versitygwVersion, err)
	}
	server := &S3{Address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	cmd := exec.Command(program, "--port", server.Address, "--access", accessKey, "--secret", secretKey,
		"--quiet", "--keep-alive", "posix", folder(t, "s3"))
	start(t, cmd, server.answers)
	return server
}

const (
	accessKey = "recollect"
	secretKey = "only-for-tests"
)

// Client returns a client that reaches the server at address, its own or a proxy's before it, through transport if that
// is not nil.
func (s *S3) Client(address string, transport http.RoundTripper, options ...func(*s3.Options)) *s3.Client {
	return s3.New(s3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://" + address), UsePathStyle: true,
		HTTPClient: &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, nil
		}),
	}, options...)
}

// answers is the readiness check.
func (s *S3) answers(ctx context.Context) error {
	transport := &http.Transport{DisableKeepAlives: true}
	_, err := s.Client(s.Address, transport).ListBuckets(ctx, &s3.ListBucketsInput{})
	return err
}

// builtVersitygw returns the path of the program, which is built once for each user and version.
var builtVersitygw = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	cache = filepath.Join(cache, "recollect-integration")
	program := filepath.Join(cache, "versitygw-"+versitygwVersion)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	building, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(building)
	cmd := exec.Command("go", "install", versitygw+"@"+versitygwVersion)
	cmd.Env = append(os.Environ(), "GOBIN="+building, "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install: %w: %s", err, out)
	}
	return program, os.Rename(filepath.Join(building, filepath.Base(versitygw)), program)
})
