// BMP files without compression, with 1, 3 or 4 bytes a pixel; and what kind of file some bytes are.
#include <cstring>

#include "runtime/formats/image.h"

namespace tfl {

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 29;

uint32_t little(std::string_view s, size_t at, size_t bytes) {
  uint32_t v = 0;
  for (size_t i = bytes; i-- > 0;) v = v << 8 | static_cast<unsigned char>(s[at + i]);
  return v;
}

}  // namespace

ImageFormat image_format(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::Png;
  if (bytes.starts_with("\xff\xd8\xff")) return ImageFormat::Jpeg;
  if (bytes.starts_with("GIF8")) return ImageFormat::Gif;
  if (bytes.starts_with("BM")) return ImageFormat::Bmp;
  return ImageFormat::Unknown;
}

Result<void> decode_bmp(std::string_view bytes, int channels, const ImageSink& sink) {
  if (bytes.size() < 32)
    return fail(
        ErrorKind::InvalidArgumentError,
        "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got {} bytes",
        bytes.size());
  uint32_t start = little(bytes, 10, 4);
  int64_t width = static_cast<int32_t>(little(bytes, 18, 4)), height = static_cast<int32_t>(little(bytes, 22, 4));
  int64_t held = little(bytes, 28, 2) / 8;
  if (width <= 0 || height == 0 || height == INT32_MIN)
    return fail(ErrorKind::InvalidArgumentError, "Width must be positive and height not zero: {} by {}", height, width);
  bool upside_down = height > 0;
  if (!upside_down) height = -height;
  if (channels != 0 && channels != held)
    return fail(ErrorKind::InvalidArgumentError, "channels attribute {} does not match bits per pixel from file {}", channels,
                held);
  if (held != 1 && held != 3 && held != 4)
    return fail(ErrorKind::InvalidArgumentError, "Number of channels must be 1, 3 or 4, was {}", held);
  if (width > kMostPixels / height)
    return fail(ErrorKind::InvalidArgumentError, "the BMP image is too large: {} by {}", height, width);
  int64_t row = (held * width + 3) / 4 * 4;
  if (static_cast<int64_t>(bytes.size()) < start + row * (height - 1) + held * width)
    return fail(ErrorKind::InvalidArgumentError, "Incomplete bmp content, requires at least {} bytes, got {} bytes",
                start + row * height, bytes.size());
  char* to = static_cast<char*>(sink.allocate(sink.self, {height, width, held}));
  if (!to) return fail(ErrorKind::ResourceExhaustedError, "no memory for an image of {} by {}", height, width);
  for (int64_t y = 0; y < height; ++y) {
    const char* from = bytes.data() + start + row * (upside_down ? height - 1 - y : y);
    for (int64_t x = 0; x < width; ++x, from += held, to += held) {
      for (int64_t c = 0; c < held; ++c) to[c] = from[held == 1 || c == 3 ? c : 2 - c];
    }
  }
  return {};
}

}  // namespace tfl
