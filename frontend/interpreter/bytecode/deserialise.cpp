// Reads the binary form back. Nothing in it is trusted: every length is checked before memory is taken for it, and the code that
// comes out is verified as a whole. Of what is a part of the program, and was verified when that was built, a code object is made with
// its head, and the rest is read at its first call: few functions of the library are ever called. Their checksums find damage there.
#include <bit>
#include <cstring>

#include "frontend/core/big_int.h"
#include "frontend/core/complex_value.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/format.h"
#include "frontend/interpreter/bytecode/operands.h"
#include "frontend/interpreter/bytecode/spans.h"

namespace tfl {

/// What code objects that were read from one file share.
struct CodeBytes {
  std::string copy;                // of a file that does not live as long as the program
  std::string_view data;           // behind the header
  std::string_view string_begins;  // 4 bytes each
  std::string_view texts;
  std::vector<Value> strings;  // Empty: not made yet
  std::shared_ptr<const Source> source;
  CodeFile kind;
};

namespace {

using format::ConstantTag;

class Reader {
 public:
  Reader(Interp& interp, std::shared_ptr<CodeBytes> bytes, size_t at = 0)
      : interp_(interp), bytes_(std::move(bytes)), data_(bytes_->data), at_(at) {}

  Result<Value> whole() {
    TFL_TRY(header());
    TFL_TRY(strings());
    Value code = TFL_TRY(read_code(0));
    if (at_ != data_.size()) return bad();
    const Code* c = code.as<Code>();
    bool converted = bytes_->kind == CodeFile::converted;
    if (c->converted != converted || c->module_body == converted) return bad();
    if (bytes_->kind != CodeFile::library) bytes_->strings = {};
    return code;
  }

  Result<Value> doc(const Code& c) {
    Str* s = TFL_TRY(text(c.doc_string));
    return s ? interp_.str(s) : Value::none();
  }

  Result<void> body(Code& c, int depth) {
    size_t size = TFL_TRY(count());
    std::string_view sum = TFL_TRY(blob(sizeof(uint64_t)));
    if (size > data_.size() - at_) return bad();
    const size_t end = at_ + size;
    if (bytes_->kind == CodeFile::library) {
      uint64_t wanted = format::checksum(data_.substr(at_, size));
      if (std::memcmp(&wanted, sum.data(), sizeof wanted) != 0) return bad();
    }
    c.registers = TFL_TRY(number(65536));
    c.caches.resize(TFL_TRY(number(65536)));
    c.span.line = TFL_TRY(number(UINT32_MAX));
    c.span.column = TFL_TRY(number(UINT32_MAX));
    c.span.end_line = TFL_TRY(number(UINT32_MAX));
    c.span.end_column = TFL_TRY(number(UINT32_MAX));
    TFL_TRY(tables(c));
    size_t bytes = TFL_TRY(count());
    std::string_view code = TFL_TRY(blob(bytes));
    if (bytes % sizeof(Instruction) != 0) return bad();
    c.instructions.resize(bytes / sizeof(Instruction));
    if (bytes > 0) std::memcpy(static_cast<void*>(c.instructions.data()), code.data(), bytes);
    bytes = TFL_TRY(count());
    c.packed_spans = TFL_TRY(blob(bytes));
    size_t constants = TFL_TRY(count());
    c.constants.reserve(constants);
    for (size_t i = 0; i < constants; ++i) c.constants.push_back(TFL_TRY(constant(depth + 1)));
    if (at_ != end) return bad();
    if (bytes_->kind != CodeFile::library) TFL_TRY(verify_code(c));
    c.body = 0;
    return {};
  }

 private:
  static Failure bad() { return fail(ErrorKind::ValueError, "bytecode: damaged data"); }

  Result<void> header() {
    uint64_t words[3];
    if (data_.size() < format::kHeaderSize || !data_.starts_with(format::kMagic)) return bad();
    std::memcpy(words, data_.data() + format::kMagic.size(), sizeof words);
    data_.remove_prefix(format::kHeaderSize);
    bytes_->data = data_;
    if (words[0] != format::format_version() || words[1] != data_.size()) return bad();
    if (bytes_->kind != CodeFile::library && words[2] != format::checksum(data_)) return bad();
    return {};
  }

  Result<uint64_t> number() {
    uint64_t v;
    if (!read_varint(data_, at_, v)) return bad();
    return v;
  }
  Result<uint32_t> number(uint32_t most) {
    uint64_t v = TFL_TRY(number());
    if (v > most) return bad();
    return static_cast<uint32_t>(v);
  }
  /// A count of things of at least one byte each.
  Result<size_t> count() {
    uint64_t v = TFL_TRY(number());
    if (v > data_.size() - at_) return bad();
    return static_cast<size_t>(v);
  }
  Result<std::string_view> blob(size_t size) {
    if (size > data_.size() - at_) return bad();
    std::string_view piece = data_.substr(at_, size);
    at_ += size;
    return piece;
  }

  Result<void> strings() {
    size_t n = TFL_TRY(count());
    bytes_->string_begins = TFL_TRY(blob(n * sizeof(uint32_t)));
    size_t size = TFL_TRY(count());
    bytes_->texts = TFL_TRY(blob(size));
    bytes_->strings.resize(n);
    return {};
  }
  Result<Value> make_string(size_t i) {
    uint32_t begin;
    std::memcpy(&begin, bytes_->string_begins.data() + i * sizeof begin, sizeof begin);
    size_t at = begin;
    uint64_t head;
    if (!read_varint(bytes_->texts, at, head) || (head >> 1) > bytes_->texts.size() - at) return bad();
    std::string_view text = bytes_->texts.substr(at, head >> 1);
    if (find_invalid_utf8(text) != text.npos) return bad();
    return head & 1 ? interp_.str(interp_.intern(text)) : interp_.str(std::string(text));
  }
  /// Null for none.
  Result<Str*> text() { return text(TFL_TRY(number())); }
  Result<Str*> text(uint64_t n) {
    if (n > bytes_->strings.size()) return bad();
    if (n == 0) return nullptr;
    Value& known = bytes_->strings[n - 1];
    if (known.is_empty()) known = TFL_TRY(make_string(n - 1));
    return known.as<Str>();
  }
  Result<Str*> name() {
    Str* s = TFL_TRY(text());
    if (!s || !s->interned) return bad();
    return s;
  }

  Result<Value> constant(int depth) {
    if (depth > format::kMaxDepth) return bad();
    std::string_view tag = TFL_TRY(blob(1));
    switch (static_cast<ConstantTag>(tag[0])) {
      case ConstantTag::None: return Value::none();
      case ConstantTag::True: return Value::boolean(true);
      case ConstantTag::False: return Value::boolean(false);
      case ConstantTag::Ellipsis: return interp_.ellipsis;
      case ConstantTag::Int: {
        uint64_t v = TFL_TRY(number());
        return Value::integer(static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1));
      }
      case ConstantTag::Float: {
        std::string_view bytes = TFL_TRY(blob(8));
        uint64_t bits;
        std::memcpy(&bits, bytes.data(), 8);
        return Value::real(std::bit_cast<double>(bits));
      }
      case ConstantTag::Complex: {
        std::string_view bytes = TFL_TRY(blob(16));
        double parts[2];
        std::memcpy(parts, bytes.data(), 16);
        return complex_value(interp_, parts[0], parts[1]);
      }
      case ConstantTag::BigInt: {
        const bool negative = TFL_TRY(number()) != 0;
        size_t size = TFL_TRY(count());
        std::string_view bytes = TFL_TRY(blob(size));
        std::vector<uint64_t> digits(size / sizeof(uint64_t));
        std::memcpy(digits.data(), bytes.data(), digits.size() * sizeof(uint64_t));
        return int_of_stored(interp_, digits, negative);
      }
      case ConstantTag::Str: {
        Str* s = TFL_TRY(text());
        if (!s) return bad();
        return interp_.str(s);
      }
      case ConstantTag::Bytes: {
        size_t size = TFL_TRY(count());
        std::string_view bytes = TFL_TRY(blob(size));
        return interp_.bytes(std::string(bytes));
      }
      case ConstantTag::Tuple: {
        size_t size = TFL_TRY(count());
        std::vector<Value> items;
        for (size_t i = 0; i < size; ++i) items.push_back(TFL_TRY(constant(depth + 1)));
        return items.empty() ? interp_.empty_tuple : interp_.tuple(std::span<const Value>(items));
      }
      case ConstantTag::Code: return read_code(depth + 1);
    }
    return bad();
  }

  Result<Value> read_code(int depth) {
    Value result = Value::adopt(interp_.allocate<Code>(interp_.types.code));
    Code& c = *result.as<Code>();
    c.source = bytes_->source;
    c.bytes = bytes_;
    c.name = TFL_TRY(name());
    c.qualname = TFL_TRY(name());
    if (bytes_->kind == CodeFile::library) {
      c.doc_string = TFL_TRY(number(static_cast<uint32_t>(bytes_->strings.size())));
    } else {
      Str* doc = TFL_TRY(text());
      c.doc = doc ? interp_.str(doc) : Value::none();
    }
    uint32_t flags = TFL_TRY(number(511));
    c.generator = flags & 1;
    c.class_body = flags & 2;
    c.module_body = flags & 4;
    c.var_positional = flags & 8;
    c.var_keyword = flags & 16;
    c.converted = flags & 32;
    c.helper = flags & 64;
    c.coroutine = flags & 128;
    c.async_generator = flags & 256;
    c.positional_only = static_cast<uint16_t>(TFL_TRY(number(0xFFFF)));
    c.positional = static_cast<uint16_t>(TFL_TRY(number(0xFFFF)));
    c.keyword_only = static_cast<uint16_t>(TFL_TRY(number(0xFFFF)));
    c.body = static_cast<uint32_t>(at_);
    if (bytes_->kind != CodeFile::library) {
      TFL_TRY(body(c, depth));
    } else {
      size_t size = TFL_TRY(count());
      TFL_TRY(blob(sizeof(uint64_t)));
      TFL_TRY(blob(size));
    }
    return result;
  }

  Result<void> tables(Code& c) {
    size_t n = TFL_TRY(count());
    for (size_t i = 0; i < n; ++i) {
      Str* s = TFL_TRY(name());
      uint32_t kind = TFL_TRY(number(static_cast<uint32_t>(ast::ParamKind::VarKeyword)));
      c.params.push_back({s, static_cast<ast::ParamKind>(kind)});
    }
    n = TFL_TRY(count());
    for (size_t i = 0; i < n; ++i) c.register_names.push_back(TFL_TRY(text()));
    n = TFL_TRY(count());
    for (size_t i = 0; i < n; ++i) {
      c.free_names.push_back(TFL_TRY(name()));
      c.free_registers.push_back(static_cast<uint16_t>(TFL_TRY(number(0xFFFF))));
    }
    n = TFL_TRY(count());
    for (size_t i = 0; i < n; ++i) {
      Handler h{};
      h.first = TFL_TRY(number(UINT32_MAX));
      h.last = TFL_TRY(number(UINT32_MAX));
      h.target = TFL_TRY(number(INT32_MAX));
      h.reg = static_cast<uint16_t>(TFL_TRY(number(0xFFFF)));
      c.handlers.push_back(h);
    }
    n = TFL_TRY(count());
    for (size_t i = 0; i < n; ++i) {
      Decision d{};
      d.first = TFL_TRY(number(UINT32_MAX));
      d.last = TFL_TRY(number(UINT32_MAX));
      d.statement = TFL_TRY(number(UINT32_MAX));
      uint32_t flags = TFL_TRY(number(3));
      d.loop = flags & 1;
      d.returns = flags & 2;
      for (std::vector<int32_t>* list : {&d.places, &d.reads}) {
        size_t places = TFL_TRY(count());
        for (size_t k = 0; k < places; ++k) list->push_back(static_cast<int32_t>(TFL_TRY(number(UINT32_MAX))));
      }
      c.decisions.push_back(std::move(d));
    }
    return {};
  }

  Interp& interp_;
  std::shared_ptr<CodeBytes> bytes_;
  std::string_view data_;
  size_t at_;
};

}  // namespace

Value doc_of(Interp& interp, const Code& code) {
  if (code.doc.is_empty()) {
    auto doc = code.bytes ? Reader(interp, code.bytes).doc(code) : Result<Value>(Value::none());
    code.doc = doc ? doc.take() : Value::none();
  }
  return code.doc;
}

Result<void> read_body(Interp& interp, Code& code) {
  auto done = Reader(interp, code.bytes, code.body).body(code, 0);
  if (done) return {};
  return fail(ErrorKind::SystemError, "the bytecode of {} ({}) is damaged: {}", code.qualname->text, code.source->name,
              done.error().message);
}

Result<Value> deserialise_code(Interp& interp, std::string_view data, std::shared_ptr<const Source> source, CodeFile kind) {
  auto bytes = std::make_shared<CodeBytes>();
  if (kind != CodeFile::library) data = bytes->copy = data;
  bytes->data = data;
  bytes->source = std::move(source);
  bytes->kind = kind;
  return Reader(interp, std::move(bytes)).whole();
}

}  // namespace tfl
