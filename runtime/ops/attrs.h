// Attributes of an operation: the parameters that are no tensors. A short list of (name, value), names from attrs.def.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/support/small_vec.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

enum class Attr : uint8_t {
#define TFL_ATTR(name) name,
#include "runtime/ops/attrs.def"
#undef TFL_ATTR
};

struct AttrValue {
  enum class Kind : uint8_t { Int, Float, Bool, Type, Text, Ints };
  Attr name;
  Kind kind;
  DType dtype = DType::F32;
  int64_t integer = 0;  // Int and Bool
  double real = 0;
  std::string text;
  Dims ints;
  bool operator==(const AttrValue&) const = default;
};

class Attrs {
 public:
  Attrs& set_int(Attr name, int64_t v) { return add({name, AttrValue::Kind::Int, DType::F32, v, 0, {}, {}}); }
  Attrs& set_bool(Attr name, bool v) { return add({name, AttrValue::Kind::Bool, DType::F32, v, 0, {}, {}}); }
  Attrs& set_float(Attr name, double v) { return add({name, AttrValue::Kind::Float, DType::F32, 0, v, {}, {}}); }
  Attrs& set_dtype(Attr name, DType v) { return add({name, AttrValue::Kind::Type, v, 0, 0, {}, {}}); }
  Attrs& set_text(Attr name, std::string v) { return add({name, AttrValue::Kind::Text, DType::F32, 0, 0, std::move(v), {}}); }
  Attrs& set_ints(Attr name, Dims v) { return add({name, AttrValue::Kind::Ints, DType::F32, 0, 0, {}, std::move(v)}); }

  const AttrValue* find(Attr name) const {
    for (const AttrValue& v : items_) {
      if (v.name == name) return &v;
    }
    return nullptr;
  }
  int64_t get_int(Attr name, int64_t otherwise = 0) const {
    const AttrValue* v = find(name);
    return v ? v->integer : otherwise;
  }
  bool get_bool(Attr name, bool otherwise = false) const { return get_int(name, otherwise) != 0; }
  double get_float(Attr name, double otherwise = 0) const {
    const AttrValue* v = find(name);
    return v ? v->real : otherwise;
  }
  DType get_dtype(Attr name, DType otherwise = DType::F32) const {
    const AttrValue* v = find(name);
    return v ? v->dtype : otherwise;
  }
  std::string_view get_text(Attr name) const {
    const AttrValue* v = find(name);
    return v ? std::string_view(v->text) : std::string_view();
  }
  const Dims* get_ints(Attr name) const {
    const AttrValue* v = find(name);
    return v ? &v->ints : nullptr;
  }
  std::span<const AttrValue> items() const { return {items_.data(), items_.size()}; }
  bool operator==(const Attrs&) const = default;

 private:
  Attrs& add(AttrValue v) {
    items_.push_back(std::move(v));
    return *this;
  }
  SmallVec<AttrValue, 2> items_;
};

std::string_view attr_name(Attr name);

}  // namespace tfl
