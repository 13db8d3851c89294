package memory

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// The media table. An image costs one token per square of 28 pixels up to a maximum, which is also the cost of an image
// whose size is not known; a PDF costs per page; anything else that is sent whole costs a token per three bytes.
const (
	imageSquare    = 28
	maxImageTokens = 4784
	pdfPageTokens  = 3000
	bytesPerToken  = 3
)

// MediaPart is a part of a message that is not text.
type MediaPart struct {
	// Type is the media type, such as image/png; "image/*" when only that much is known, "" when nothing is.
	Type string
	// Base64 is the content as it is sent, without a data URL's prefix; "" when the part only refers to its content.
	Base64 string
	// URL is where the content is, when the part only refers to it.
	URL string
}

// Size returns the length of the content in bytes, 0 when the part only refers to it.
func (m *MediaPart) Size() int64 {
	return int64(len(strings.TrimRight(m.Base64, "="))) * 3 / 4
}

// DefaultMediaTokens returns what a part costs by the table: an image the number of its squares of 28 by 28 pixels, at most
// 4784, and 4784 when its size is not known; a PDF 3000 a page; other content a token per three bytes; other content that is
// only referred to what its URL costs as text.
func DefaultMediaTokens(m *MediaPart) int64 {
	switch {
	case strings.HasPrefix(m.Type, "image/"):
		return imageTokens(m)
	case m.Base64 == "":
		return EstimateText(m.URL)
	case m.Type == "application/pdf":
		return pdfPages(m) * pdfPageTokens
	}
	return (m.Size() + bytesPerToken - 1) / bytesPerToken
}

func imageTokens(m *MediaPart) int64 {
	width, height := imageSize(m)
	if width <= 0 || height <= 0 {
		return maxImageTokens
	}
	squares := ((int64(width) + imageSquare - 1) / imageSquare) * ((int64(height) + imageSquare - 1) / imageSquare)
	return min(squares, maxImageTokens)
}

// imageSize reads no more than the header of an image. It returns zeros for a format that it does not know.
func imageSize(m *MediaPart) (width, height int) {
	for _, decode := range []func(io.Reader) (image.Config, error){png.DecodeConfig, jpeg.DecodeConfig, gif.DecodeConfig} {
		if c, err := decode(m.content()); err == nil {
			return c.Width, c.Height
		}
	}
	return 0, 0
}

// pdfPages counts page objects. In a file whose objects are compressed none can be seen, and a page per 50000 bytes is
// assumed.
func pdfPages(m *MediaPart) int64 {
	const compressedPage = 50_000
	content, err := io.ReadAll(m.content())
	if err != nil {
		return 1 + m.Size()/compressedPage
	}
	pages := int64(0)
	for _, object := range bytes.Split(content, []byte("/Type"))[1:] {
		object = bytes.TrimLeft(object, " \t\r\n")
		if bytes.HasPrefix(object, []byte("/Page")) && !bytes.HasPrefix(object, []byte("/Pages")) {
			pages++
		}
	}
	if pages == 0 {
		return 1 + m.Size()/compressedPage
	}
	return pages
}

func (m *MediaPart) content() io.Reader {
	encoding := base64.StdEncoding
	if strings.ContainsAny(m.Base64, "-_") {
		encoding = base64.URLEncoding
	}
	return base64.NewDecoder(encoding.WithPadding(base64.NoPadding), strings.NewReader(strings.TrimRight(m.Base64, "=")))
}
