// Image files in string tensors.
#include "runtime/formats/image.h"

#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

using shape_rules::invalid;

struct Target {
  Context& context;
  DType dtype;
  Tensor tensor;
  std::unique_ptr<Error> error;
  static void* allocate(void* self, const ImageSize& size) {
    Target* t = static_cast<Target*>(self);
    Result<Tensor> made = Tensor::empty(t->context, t->dtype, Dims{size.height, size.width, size.channels});
    if (!made) {
      t->error = made.failure().error;
      return nullptr;
    }
    t->tensor = made.take();
    return t->tensor.raw();
  }
};

}  // namespace

Result<void> run_decode_image(RunCall& call) {
  Tensor contents = TFL_TRY(contiguous(call.context, call.operands[0]));
  if (contents.size() != 1) return invalid(call.op, "`contents` must be scalar but got shape{}", shape_text(contents.dims()));
  const std::string& bytes = *contents.data<std::string>();
  int channels = static_cast<int>(call.attrs.get_int(Attr::channels));
  bool wide = call.types[0].dtype == DType::U16;
  Target target{call.context, call.types[0].dtype, {}, nullptr};
  ImageSink sink{&target, Target::allocate};
  Result<void> done;
  switch (image_format(bytes)) {
    case ImageFormat::Png: done = decode_png(bytes, channels, wide, sink); break;
    case ImageFormat::Jpeg:
      if (wide) return invalid(call.op, "Trying to decode JPEG format using a wrong op: only PNG files have 16 bits a channel");
      done = decode_jpeg(bytes, channels, sink);
      break;
    case ImageFormat::Bmp:
      if (wide) return invalid(call.op, "Trying to decode BMP format using a wrong op: only PNG files have 16 bits a channel");
      done = decode_bmp(bytes, channels, sink);
      break;
    case ImageFormat::Gif: return fail(ErrorKind::UnimplementedError, "GIF files are not in this release [Op:DecodeImage]");
    case ImageFormat::Unknown: return invalid(call.op, "Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  }
  if (target.error) return Failure{std::move(target.error)};
  if (!done) {
    Failure failure = done.failure();
    failure.error->message += " [Op:DecodeImage]";
    return failure;
  }
  return call.give(std::move(target.tensor));
}

Result<void> run_encode_image(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  size_t batch = static_cast<size_t>(x.rank() - 3);
  ImageSize size{x.dim(x.rank() - 3), x.dim(x.rank() - 2), x.dim(x.rank() - 1)};
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::String, x.dims().first(batch)));
  bool png = call.attrs.get_text(Attr::format) == "png", wide = x.dtype() == DType::U16;
  if (out.size() > 0 && x.size() == 0)
    return invalid(call.op, "image must have at least one pixel, got {}", shape_text(x.dims()));
  size_t bytes = out.size() == 0 ? 0 : x.bytes() / static_cast<size_t>(out.size());
  int64_t quality = call.attrs.get_int(Attr::quality, png ? -1 : 95);
  for (int64_t i = 0; i < out.size(); ++i) {
    const std::byte* from = x.raw() + static_cast<size_t>(i) * bytes;
    out.data<std::string>()[i] = png ? TFL_TRY(encode_png(call.context.interrupt, from, size, wide, static_cast<int>(quality)))
                                     : TFL_TRY(encode_jpeg(call.context.interrupt, from, size, static_cast<int>(quality)));
  }
  return call.give(std::move(out));
}

}  // namespace tfl
