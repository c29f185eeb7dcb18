// JPEG over libjpeg. Its errors leave by longjmp: the functions that call setjmp hold nothing that would have to be destroyed.
#include <cstdio>

#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "runtime/formats/image.h"

namespace tfl {

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 29;
constexpr int kMostScans = 200;  // a small file can hold thousands of passes over a large image

struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf leave;
  char problem[JMSG_LENGTH_MAX];
};

void note(j_common_ptr info) {
  Errors* e = reinterpret_cast<Errors*>(info->err);
  info->err->format_message(info, e->problem);
  std::longjmp(e->leave, 1);
}
void say_nothing(j_common_ptr) {}
void say_nothing_of_warnings(j_common_ptr, int) {}

void watch_scans(j_common_ptr info) {
  if (!info->is_decompressor || reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  Errors* e = reinterpret_cast<Errors*>(info->err);
  std::strcpy(e->problem, "too many scans");
  std::longjmp(e->leave, 1);
}

void install(Errors& errors, j_common_ptr info) {
  info->err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = note;
  errors.manager.output_message = say_nothing;
  errors.manager.emit_message = say_nothing_of_warnings;
}

enum class Outcome { Done, Problem, Size, Memory };

Outcome decode(jpeg_decompress_struct& info, Errors& errors, std::string_view bytes, int channels, const ImageSink& sink,
               ImageSize& size, unsigned char*& line) {
  if (setjmp(errors.leave)) return Outcome::Problem;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_progress_mgr progress{};
  progress.progress_monitor = watch_scans;
  info.progress = &progress;
  jpeg_read_header(&info, TRUE);
  size = {info.image_height, info.image_width, channels != 0 ? channels : info.num_components < 3 ? 1 : 3};
  bool inked = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inked ? JCS_CMYK : size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.do_fancy_upsampling = TRUE;
  if (size.height <= 0 || size.width <= 0 || size.width > kMostPixels / size.height) return Outcome::Size;
  unsigned char* pixels = static_cast<unsigned char*>(sink.allocate(sink.self, size));
  if (!pixels) return Outcome::Memory;
  size_t row = static_cast<size_t>(size.width * size.channels);
  std::memset(pixels, 0, row * static_cast<size_t>(size.height));
  jpeg_start_decompress(&info);
  if (inked) line = static_cast<unsigned char*>(std::malloc(static_cast<size_t>(size.width) * 4));
  if (inked && !line) return Outcome::Memory;
  while (info.output_scanline < info.output_height) {
    unsigned char* to = pixels + row * info.output_scanline;
    JSAMPROW target = inked ? line : to;
    if (jpeg_read_scanlines(&info, &target, 1) != 1) break;
    if (!inked) continue;
    // Ink is what is missing; files of the common kind store it inverted.
    for (int64_t x = 0; x < size.width; ++x) {
      int c = line[4 * x], m = line[4 * x + 1], y = line[4 * x + 2], k = line[4 * x + 3];
      int r, g, b;
      if (info.saw_Adobe_marker) {
        r = k * c / 255;
        g = k * m / 255;
        b = k * y / 255;
      } else {
        r = (255 - k) * (255 - c) / 255;
        g = (255 - k) * (255 - m) / 255;
        b = (255 - k) * (255 - y) / 255;
      }
      if (size.channels == 1) {
        to[x] = static_cast<unsigned char>((r * 299 + g * 587 + b * 114) / 1000);
      } else {
        to[3 * x] = static_cast<unsigned char>(r);
        to[3 * x + 1] = static_cast<unsigned char>(g);
        to[3 * x + 2] = static_cast<unsigned char>(b);
      }
    }
  }
  // A file that ends too early is filled up with grey by the library, with a warning.
  if (info.err->num_warnings > 0 && info.err->msg_code != 0 && info.src->bytes_in_buffer == 0) {
    info.err->format_message(reinterpret_cast<j_common_ptr>(&info), errors.problem);
    return Outcome::Problem;
  }
  jpeg_finish_decompress(&info);
  return Outcome::Done;
}

bool encode(const Interrupt& stop, jpeg_compress_struct& info, Errors& errors, const unsigned char* pixels, const ImageSize& size,
            int quality, unsigned char*& buffer, unsigned long& bytes) {
  if (setjmp(errors.leave)) return false;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &buffer, &bytes);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = static_cast<int>(size.channels);
  info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.density_unit = 1;
  info.X_density = info.Y_density = 300;
  jpeg_start_compress(&info, TRUE);
  size_t row = static_cast<size_t>(size.width * size.channels);
  while (info.next_scanline < info.image_height) {
    if (stop.load(std::memory_order_relaxed) != 0) return true;
    JSAMPROW from = const_cast<unsigned char*>(pixels) + row * info.next_scanline;
    jpeg_write_scanlines(&info, &from, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

Result<void> decode_jpeg(std::string_view bytes, int channels, const ImageSink& sink) {
  if (channels == 4) return fail(ErrorKind::InvalidArgumentError, "channels must be 0, 1, or 3 for JPEG, got 4");
  jpeg_decompress_struct info{};
  Errors errors{};
  install(errors, reinterpret_cast<j_common_ptr>(&info));
  ImageSize size;
  unsigned char* line = nullptr;
  Outcome outcome = decode(info, errors, bytes, channels, sink, size, line);
  std::free(line);
  jpeg_destroy_decompress(&info);
  switch (outcome) {
    case Outcome::Done: return {};
    case Outcome::Problem:
      return fail(ErrorKind::InvalidArgumentError, "Invalid JPEG data or crop window, data size {}: {}", bytes.size(),
                  static_cast<const char*>(errors.problem));
    case Outcome::Size:
      return fail(ErrorKind::InvalidArgumentError, "the JPEG image is too large: {} by {}", size.height, size.width);
    case Outcome::Memory:
      return fail(ErrorKind::ResourceExhaustedError, "no memory for an image of {} by {}", size.height, size.width);
  }
  __builtin_unreachable();
}

Result<std::string> encode_jpeg(const Interrupt& stop, const void* pixels, const ImageSize& size, int quality) {
  if (size.width <= 0 || size.height <= 0 || size.width > JPEG_MAX_DIMENSION || size.height > JPEG_MAX_DIMENSION)
    return fail(ErrorKind::InvalidArgumentError, "JPEG images have between 1 and {} rows and columns, not {} by {}",
                JPEG_MAX_DIMENSION, size.height, size.width);
  jpeg_compress_struct info{};
  Errors errors{};
  install(errors, reinterpret_cast<j_common_ptr>(&info));
  unsigned char* buffer = nullptr;
  unsigned long bytes = 0;
  bool done = encode(stop, info, errors, static_cast<const unsigned char*>(pixels), size, quality, buffer, bytes);
  // Where it ended early, `buffer` is not yet what the library has come to write into.
  if (info.dest && (!done || stop.load(std::memory_order_relaxed) != 0)) info.dest->term_destination(&info);
  std::string out;
  if (done) out.assign(reinterpret_cast<const char*>(buffer), bytes);
  std::free(buffer);
  jpeg_destroy_compress(&info);
  if (!done) return fail(ErrorKind::InvalidArgumentError, "JPEG encoding failed: {}", static_cast<const char*>(errors.problem));
  return out;
}

}  // namespace tfl
