// PNG over libpng. Its errors leave by longjmp: the functions that call setjmp hold nothing that would have to be destroyed.
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>

#include "runtime/formats/image.h"

namespace tfl {

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 29;

struct Reader {
  const char* at;
  const char* end;
  char problem[160];
};

void note(png_structp png, png_const_charp text) {
  Reader* r = static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(r->problem, text, sizeof r->problem - 1);
  png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t n) {
  Reader* r = static_cast<Reader*>(png_get_io_ptr(png));
  if (static_cast<size_t>(r->end - r->at) < n) png_error(png, "the file is truncated");
  std::memcpy(to, r->at, n);
  r->at += n;
}

// Sets up the transformations and tells the size; false when the size is too large.
bool prepare(png_structp png, png_infop info, int channels, bool wide, ImageSize& size) {
  png_read_info(png, info);
  size.width = png_get_image_width(png, info);
  size.height = png_get_image_height(png, info);
  int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0, alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
  if (channels == 0) channels = color == PNG_COLOR_TYPE_PALETTE ? (transparent ? 4 : 3) : png_get_channels(png, info);
  size.channels = channels;
  if (size.width <= 0 || size.height <= 0 || size.width > kMostPixels / size.height) return false;
  bool want_alpha = channels % 2 == 0, want_gray = channels < 3, is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
  if (want_alpha) {
    if (transparent) {
      png_set_tRNS_to_alpha(png);
    } else if (!alpha) {
      png_set_add_alpha(png, wide ? 65535 : 255, PNG_FILLER_AFTER);
    }
  } else if (alpha || transparent) {
    png_set_strip_alpha(png);
  }
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (is_gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (depth == 16 && !wide) png_set_strip_16(png);
  if (wide) {
    if (depth < 16) png_set_expand_16(png);
    if (std::endian::native == std::endian::little) png_set_swap(png);
  }
  if (want_gray && !is_gray) {
    png_set_rgb_to_gray(png, 1, 0.299, 0.587);
  } else if (!want_gray && is_gray) {
    png_set_gray_to_rgb(png);
  }
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  return png_get_rowbytes(png, info) == static_cast<size_t>(size.width * size.channels * (wide ? 2 : 1));
}

enum class Outcome { Done, Problem, Size, Memory };

Outcome decode(png_structp png, png_infop info, int channels, bool wide, const ImageSink& sink, ImageSize& size) {
  if (setjmp(png_jmpbuf(png))) return Outcome::Problem;
  if (!prepare(png, info, channels, wide, size)) return Outcome::Size;
  png_bytep pixels = static_cast<png_bytep>(sink.allocate(sink.self, size));
  if (!pixels) return Outcome::Memory;
  size_t row = static_cast<size_t>(size.width * size.channels * (wide ? 2 : 1));
  std::memset(pixels, 0, row * static_cast<size_t>(size.height));
  int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? PNG_INTERLACE_ADAM7_PASSES : 1;
  for (int pass = 0; pass < passes; ++pass) {
    for (int64_t y = 0; y < size.height; ++y) png_read_row(png, pixels + static_cast<size_t>(y) * row, nullptr);
  }
  png_read_end(png, nullptr);
  return Outcome::Done;
}

struct Writer {
  std::string* bytes;
  char problem[160];
};
void note_writing(png_structp png, png_const_charp text) {
  Writer* w = static_cast<Writer*>(png_get_error_ptr(png));
  std::strncpy(w->problem, text, sizeof w->problem - 1);
  png_longjmp(png, 1);
}
void write_bytes(png_structp png, png_bytep from, png_size_t n) {
  static_cast<Writer*>(png_get_io_ptr(png))->bytes->append(reinterpret_cast<const char*>(from), n);
}
void flush_nothing(png_structp) {}

bool encode(const Interrupt& stop, png_structp png, png_infop info, const char* pixels, const ImageSize& size, bool wide,
            int compression) {
  if (setjmp(png_jmpbuf(png))) return false;
  constexpr int kColors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_compression_level(png, compression);
  png_set_compression_mem_level(png, 9);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width), static_cast<png_uint_32>(size.height), wide ? 16 : 8,
               kColors[size.channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (wide && std::endian::native == std::endian::little) png_set_swap(png);
  size_t row = static_cast<size_t>(size.width * size.channels * (wide ? 2 : 1));
  for (int64_t y = 0; y < size.height && stop.load(std::memory_order_relaxed) == 0; ++y)
    png_write_row(png, reinterpret_cast<png_const_bytep>(pixels + static_cast<size_t>(y) * row));
  if (stop.load(std::memory_order_relaxed) == 0) png_write_end(png, nullptr);
  return true;
}

}  // namespace

Result<void> decode_png(std::string_view bytes, int channels, bool wide, const ImageSink& sink) {
  Reader reader{bytes.data(), bytes.data() + bytes.size(), {}};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, note, ignore);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  ImageSize size;
  Outcome outcome = Outcome::Memory;
  if (info) {
    png_set_read_fn(png, &reader, read_bytes);
    outcome = decode(png, info, channels, wide, sink, size);
  }
  if (png) png_destroy_read_struct(&png, &info, nullptr);
  switch (outcome) {
    case Outcome::Done: return {};
    case Outcome::Problem:
      return fail(ErrorKind::InvalidArgumentError, "Invalid PNG data, size {}: {}", bytes.size(),
                  static_cast<const char*>(reader.problem));
    case Outcome::Size:
      return fail(ErrorKind::InvalidArgumentError, "PNG size too large for int: {} by {}", size.height, size.width);
    case Outcome::Memory:
      return fail(ErrorKind::ResourceExhaustedError, "no memory for an image of {} by {}", size.height, size.width);
  }
  __builtin_unreachable();
}

Result<std::string> encode_png(const Interrupt& stop, const void* pixels, const ImageSize& size, bool wide, int compression) {
  std::string bytes;
  Writer writer{&bytes, {}};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, note_writing, ignore);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  bool done = false;
  if (info) {
    png_set_write_fn(png, &writer, write_bytes, flush_nothing);
    done = encode(stop, png, info, static_cast<const char*>(pixels), size, wide, compression);
  }
  if (png) png_destroy_write_struct(&png, &info);
  if (!done) return fail(ErrorKind::InvalidArgumentError, "PNG encoding failed: {}", static_cast<const char*>(writer.problem));
  return bytes;
}

}  // namespace tfl
