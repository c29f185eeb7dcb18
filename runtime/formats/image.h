// Image files: PNG, JPEG and BMP to rows of pixels and back. Bytes may be hostile: sizes are checked against a limit before anything is
// allocated, and whatever is wrong is an error. This header must not know tensors.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/result.h"

namespace tfl {

enum class ImageFormat : uint8_t { Unknown, Png, Jpeg, Gif, Bmp };
/// What the first bytes say.
ImageFormat image_format(std::string_view bytes);

struct ImageSize {
  int64_t height = 0, width = 0, channels = 0;
};

/// Who decodes asks for memory here once the sizes are known: `bytes` of them, rows without gaps. Null: there is none.
struct ImageSink {
  void* self;
  void* (*allocate)(void* self, const ImageSize& size);
};

/// `channels` 0: as in the file. Pixels of 16 bits when `wide` (PNG alone), in the machine's byte order; else of 8.
Result<void> decode_png(std::string_view bytes, int channels, bool wide, const ImageSink& sink);
Result<void> decode_jpeg(std::string_view bytes, int channels, const ImageSink& sink);
Result<void> decode_bmp(std::string_view bytes, int channels, const ImageSink& sink);

/// Set by another thread: who encodes stops, and what comes back is no image.
using Interrupt = std::atomic<uint32_t>;

/// Zlib's level for `compression`, -1 for its own choice.
Result<std::string> encode_png(const Interrupt& stop, const void* pixels, const ImageSize& size, bool wide, int compression);
Result<std::string> encode_jpeg(const Interrupt& stop, const void* pixels, const ImageSize& size, int quality);

}  // namespace tfl
