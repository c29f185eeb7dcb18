#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/format.h"
#include "frontend/interpreter/bytecode/operands.h"
#include "frontend/interpreter/bytecode/spans.h"

namespace tfl {
namespace format {

uint64_t checksum(std::string_view data, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  uint64_t h = seed ^ (data.size() * kMultiplier);
  auto mix = [&h](uint64_t word) {
    h = (h ^ word) * kMultiplier;
    h ^= h >> 29;
  };
  while (data.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, data.data(), 8);
    mix(word);
    data.remove_prefix(8);
  }
  uint64_t rest = 0;
  if (!data.empty()) std::memcpy(&rest, data.data(), data.size());
  mix(rest);
  mix(h >> 32);
  return h;
}

uint64_t format_version() {
  constexpr uint64_t kLayout = 6;
  constexpr std::string_view kInstructions =
#define TFL_INSTRUCTION(name, operands) #name operands "\n"
#include "frontend/core/instructions.def"
#undef TFL_INSTRUCTION
      ;
  return checksum(kInstructions, kLayout);
}

}  // namespace format

namespace {

using format::ConstantTag;

class Writer {
 public:
  std::string finish(const Code& code) {
    write_code(code);
    std::string payload;
    append_varint(payload, strings_.size());
    std::string texts;
    for (const Str* s : strings_) {
      auto begin = static_cast<uint32_t>(texts.size());
      payload.append(reinterpret_cast<const char*>(&begin), sizeof begin);
      append_varint(texts, s->text.size() << 1 | (s->interned ? 1 : 0));
      texts += s->text;
    }
    append_varint(payload, texts.size());
    payload += texts + out_;
    std::string file(format::kMagic);
    for (uint64_t word : {format::format_version(), uint64_t{payload.size()}, format::checksum(payload)}) {
      file.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return file + payload;
  }

 private:
  void number(uint64_t v) { append_varint(out_, v); }
  void text(const Str* s) {  // 0: none
    if (!s) return number(0);
    auto [it, fresh] = numbers_.try_emplace(s, strings_.size() + 1);
    if (fresh) strings_.push_back(s);
    number(it->second);
  }
  void blob(std::string_view data) {
    number(data.size());
    out_ += data;
  }
  void tag(ConstantTag t) { out_ += static_cast<char>(t); }

  void constant(const Value& v) {
    switch (v.tag()) {
      case Tag::Empty:
      case Tag::None: return tag(ConstantTag::None);
      case Tag::Bool: return tag(v.as_bool() ? ConstantTag::True : ConstantTag::False);
      case Tag::Int:
        tag(ConstantTag::Int);
        return number((static_cast<uint64_t>(v.as_int()) << 1) ^ static_cast<uint64_t>(v.as_int() >> 63));
      case Tag::Float: {
        tag(ConstantTag::Float);
        auto bits = std::bit_cast<uint64_t>(v.as_float());
        out_.append(reinterpret_cast<const char*>(&bits), sizeof bits);
        return;
      }
      case Tag::Object: break;
    }
    if (v.is_str()) {
      tag(ConstantTag::Str);
      text(v.as<Str>());
    } else if (v.is(Kind::Bytes)) {
      tag(ConstantTag::Bytes);
      blob(v.as<Bytes>()->data);
    } else if (v.is(Kind::Complex)) {
      tag(ConstantTag::Complex);
      for (double part : {v.as<ComplexObject>()->re, v.as<ComplexObject>()->im}) {
        out_.append(reinterpret_cast<const char*>(&part), sizeof part);
      }
    } else if (v.is(Kind::BigInt)) {
      const auto* b = v.as<BigInt>();
      tag(ConstantTag::BigInt);
      number(b->negative ? 1 : 0);
      blob({reinterpret_cast<const char*>(b->digits), static_cast<size_t>(b->used) * sizeof(uint64_t)});
    } else if (v.is(Kind::Tuple)) {
      tag(ConstantTag::Tuple);
      number(static_cast<uint64_t>(v.as<Tuple>()->size));
      for (const Value& item : v.as<Tuple>()->span()) constant(item);
    } else if (v.is(Kind::Code)) {
      tag(ConstantTag::Code);
      write_code(*v.as<Code>());
    } else {
      tag(ConstantTag::Ellipsis);
    }
  }

  void write_code(const Code& c) {
    text(c.name);
    text(c.qualname);
    text(c.doc.is_str() ? c.doc.as<Str>() : nullptr);
    number((c.generator ? 1u : 0u) | (c.class_body ? 2u : 0u) | (c.module_body ? 4u : 0u) | (c.var_positional ? 8u : 0u) |
           (c.var_keyword ? 16u : 0u) | (c.converted ? 32u : 0u) | (c.helper ? 64u : 0u) | (c.coroutine ? 128u : 0u) |
           (c.async_generator ? 256u : 0u));
    for (uint16_t v : {c.positional_only, c.positional, c.keyword_only}) number(v);
    std::string before = std::exchange(out_, {});
    write_body(c);
    std::string body = std::exchange(out_, std::move(before));
    uint64_t sum = format::checksum(body);
    number(body.size());
    out_.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    out_ += body;
  }

  void write_body(const Code& c) {
    for (uint32_t v :
         {c.registers, static_cast<uint32_t>(c.caches.size()), c.span.line, c.span.column, c.span.end_line, c.span.end_column}) {
      number(v);
    }
    number(c.params.size());
    for (const Param& p : c.params) {
      text(p.name);
      number(static_cast<uint64_t>(p.kind));
    }
    number(c.register_names.size());
    for (const Str* s : c.register_names) text(s);
    number(c.free_names.size());
    for (size_t i = 0; i < c.free_names.size(); ++i) {
      text(c.free_names[i]);
      number(c.free_registers[i]);
    }
    number(c.handlers.size());
    for (const Handler& h : c.handlers) {
      for (uint32_t v : {h.first, h.last, h.target, uint32_t{h.reg}}) number(v);
    }
    number(c.decisions.size());
    for (const Decision& d : c.decisions) {
      for (uint32_t v : {d.first, d.last, d.statement, (d.loop ? 1u : 0u) + (d.returns ? 2u : 0u)}) number(v);
      for (const std::vector<int32_t>* list : {&d.places, &d.reads}) {
        number(list->size());
        for (int32_t place : *list) number(static_cast<uint32_t>(place));
      }
    }
    blob({reinterpret_cast<const char*>(c.instructions.data()), c.instructions.size() * sizeof(Instruction)});
    blob(c.packed_spans.empty() ? pack_spans(c.spans) : std::string(c.packed_spans));
    number(c.constants.size());
    for (const Value& v : c.constants) constant(v);
  }

  std::string out_;
  std::vector<const Str*> strings_;
  std::unordered_map<const Str*, size_t> numbers_;
};

}  // namespace

std::string serialise_code(Interp&, const Value& code) { return Writer().finish(*code.as<Code>()); }

}  // namespace tfl
