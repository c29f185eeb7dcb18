#include "runtime/formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tfl {

namespace {

constexpr size_t kMaxHeader = 100'000'000;
static_assert(std::endian::native == std::endian::little, "elements are little-endian, as in the file");

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName kTypes[] = {{DType::F16, "F16"},  {DType::BF16, "BF16"}, {DType::F32, "F32"}, {DType::F64, "F64"},
                               {DType::I8, "I8"},    {DType::I16, "I16"},   {DType::I32, "I32"}, {DType::I64, "I64"},
                               {DType::U8, "U8"},    {DType::U16, "U16"},   {DType::U32, "U32"}, {DType::U64, "U64"},
                               {DType::Bool, "BOOL"}};

template <class... Args>
Failure broken(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::DataLossError, "not a safetensors file: " + fmt::vformat(format, fmt::make_format_args(args...)));
}

void put_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 63));
    out += static_cast<char>(0x80 | (c >> 6 & 63));
    out += static_cast<char>(0x80 | (c & 63));
  }
}

// Just as much JSON as a header has: an object of objects, strings, lists of sizes. Nothing nests, so nothing recurses.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<void> expect(char c) {
    if (take(c)) return {};
    return broken("'{}' is missing at byte {} of the header", c, at_);
  }
  bool at_end() {
    blanks();
    return at_ == text_.size();
  }

  Result<std::string> string() {
    TFL_TRY(expect('"'));
    std::string out;
    while (at_ < text_.size()) {
      char c = text_[at_++];
      if (c == '"') return out;
      if (static_cast<unsigned char>(c) < 0x20) return broken("a control character in a string of the header");
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ == text_.size()) break;
      c = text_[at_++];
      switch (c) {
        case '"':
        case '\\':
        case '/': out += c; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          uint32_t unit = TFL_TRY(hex());
          if (unit >= 0xD800 && unit < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
            at_ += 2;
            uint32_t low = TFL_TRY(hex());
            if (low < 0xDC00 || low > 0xDFFF) return broken("half a character in a string of the header");
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
          } else if (unit >= 0xD800 && unit < 0xE000) {
            return broken("half a character in a string of the header");
          }
          put_utf8(out, unit);
          break;
        }
        default: return broken("'\\{}' in a string of the header", c);
      }
    }
    return broken("a string of the header does not end");
  }

  Result<int64_t> number() {
    blanks();
    size_t first = at_;
    uint64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (value > (uint64_t{1} << 62) / 10) return broken("the number at byte {} of the header is too large", first);
      value = value * 10 + static_cast<uint64_t>(text_[at_++] - '0');
    }
    if (at_ == first) return broken("a size or an offset is missing at byte {} of the header", first);
    return static_cast<int64_t>(value);
  }

  Result<Dims> numbers() {
    Dims out;
    TFL_TRY(expect('['));
    if (take(']')) return out;
    do {
      if (out.size() >= static_cast<size_t>(kMaxRank)) return broken("a tensor has more than {} dimensions", kMaxRank);
      out.push_back(TFL_TRY(number()));
    } while (take(','));
    TFL_TRY(expect(']'));
    return out;
  }

 private:
  Result<uint32_t> hex() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      char c = at_ < text_.size() ? text_[at_++] : '\0';
      int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
      if (digit < 0) return broken("'\\u' without four digits in the header");
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

Result<SafeTensorEntry> read_entry(Header& header, std::string name) {
  SafeTensorEntry entry;
  bool has_type = false, has_shape = false, has_offsets = false;
  TFL_TRY(header.expect('{'));
  do {
    std::string key = TFL_TRY(header.string());
    TFL_TRY(header.expect(':'));
    bool* seen = key == "dtype" ? &has_type : key == "shape" ? &has_shape : key == "data_offsets" ? &has_offsets : nullptr;
    if (!seen) return broken("tensor '{}' has a field '{}'", name, key);
    if (*seen) return broken("tensor '{}' has '{}' twice", name, key);
    *seen = true;
    if (key == "dtype") {
      std::string type = TFL_TRY(header.string());
      const TypeName* found =
          std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeName& t) { return t.name == type; });
      if (found == std::end(kTypes)) return broken("tensor '{}' has the unknown type '{}'", name, type);
      entry.dtype = found->dtype;
    } else {
      Dims values = TFL_TRY(header.numbers());
      if (key == "shape") {
        entry.dims = std::move(values);
      } else {
        if (values.size() != 2 || values[0] > values[1]) return broken("the offsets of tensor '{}' are no range", name);
        entry.begin = static_cast<size_t>(values[0]);
        entry.end = static_cast<size_t>(values[1]);
      }
    }
  } while (header.take(','));
  TFL_TRY(header.expect('}'));
  if (!has_type || !has_shape || !has_offsets) return broken("tensor '{}' lacks its type, its shape or its offsets", name);
  int64_t bytes = static_cast<int64_t>(dtype_size(entry.dtype));
  bool empty = std::find(entry.dims.begin(), entry.dims.end(), 0) != entry.dims.end();
  for (int64_t d : entry.dims) {
    if (!empty && __builtin_mul_overflow(bytes, d, &bytes)) return broken("the sizes of tensor '{}' overflow", name);
  }
  if (empty) bytes = 0;
  if (entry.end - entry.begin != static_cast<size_t>(bytes))
    return broken("tensor '{}' of {} needs {} bytes, its offsets give it {}", name, shape_text(entry.dims), bytes,
                  entry.end - entry.begin);
  entry.name = std::move(name);
  return entry;
}

Result<void> read_metadata(Header& header, SafeTensorIndex& index) {
  TFL_TRY(header.expect('{'));
  if (header.take('}')) return {};
  do {
    std::string key = TFL_TRY(header.string());
    TFL_TRY(header.expect(':'));
    std::string value = TFL_TRY(header.string());
    index.metadata.emplace_back(std::move(key), std::move(value));
  } while (header.take(','));
  return header.expect('}');
}

template <class Item, class Key>
const Item* find_repeated(std::vector<const Item*> items, Key key) {
  std::sort(items.begin(), items.end(), [&](const Item* a, const Item* b) { return key(*a) < key(*b); });
  for (size_t i = 1; i < items.size(); ++i) {
    if (key(*items[i - 1]) == key(*items[i])) return items[i];
  }
  return nullptr;
}

void put_string(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

Result<SafeTensorIndex> read_safetensors_index(std::string_view file) {
  if (file.size() < 8) return broken("it has only {} bytes", file.size());
  uint64_t length;
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kMaxHeader) return broken("its header would have {} bytes", length);
  if (length > file.size() - 8) return broken("its header of {} bytes is cut off", length);
  Header header(file.substr(8, length));
  SafeTensorIndex index;
  index.data_begin = 8 + length;
  bool has_metadata = false;
  TFL_TRY(header.expect('{'));
  if (!header.take('}')) {
    do {
      std::string name = TFL_TRY(header.string());
      TFL_TRY(header.expect(':'));
      if (name == "__metadata__") {
        if (has_metadata) return broken("'__metadata__' occurs twice");
        has_metadata = true;
        TFL_TRY(read_metadata(header, index));
      } else {
        index.entries.push_back(TFL_TRY(read_entry(header, std::move(name))));
      }
    } while (header.take(','));
    TFL_TRY(header.expect('}'));
  }
  if (!header.at_end()) return broken("there is more after the header's end");

  std::vector<const SafeTensorEntry*> entries;
  for (const SafeTensorEntry& e : index.entries) entries.push_back(&e);
  if (const SafeTensorEntry* twice =
          find_repeated(entries, [](const SafeTensorEntry& e) -> const std::string& { return e.name; }))
    return broken("tensor '{}' occurs twice", twice->name);
  std::stable_sort(index.entries.begin(), index.entries.end(), [](const SafeTensorEntry& a, const SafeTensorEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  size_t at = 0;
  for (const SafeTensorEntry& e : index.entries) {
    if (e.begin != at) return broken("tensor '{}' begins at {} where {} is the next free byte", e.name, e.begin, at);
    at = e.end;
  }
  if (at != file.size() - index.data_begin)
    return broken("it holds {} bytes of elements where its header tells of {}", file.size() - index.data_begin, at);
  return index;
}

Result<Tensor> read_safetensor(Context& context, std::string_view file, const SafeTensorIndex& index,
                               const SafeTensorEntry& entry) {
  Tensor t = TFL_TRY(Tensor::empty(context, entry.dtype, entry.dims));
  std::memcpy(t.raw(), file.data() + index.data_begin + entry.begin, t.bytes());
  if (entry.dtype == DType::Bool) {
    // Another value than 0 and 1 would be none of a bool's.
    uint8_t* bytes = reinterpret_cast<uint8_t*>(t.raw());
    for (int64_t i = 0; i < t.size(); ++i) bytes[i] = bytes[i] != 0;
  }
  return t;
}

Result<std::string> write_safetensors(Context& context, const std::vector<std::pair<std::string, Tensor>>& tensors,
                                      const std::vector<std::pair<std::string, std::string>>& metadata) {
  using Item = std::pair<std::string, Tensor>;
  std::vector<const Item*> items;
  for (const Item& item : tensors) items.push_back(&item);
  if (const Item* twice = find_repeated(items, [](const Item& i) -> const std::string& { return i.first; }))
    return fail(ErrorKind::InvalidArgumentError, "two tensors are called '{}'", twice->first);
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (size_t i = 0; i < metadata.size(); ++i) {
      if (i > 0) header += ',';
      put_string(header, metadata[i].first);
      header += ':';
      put_string(header, metadata[i].second);
    }
    header += '}';
  }
  size_t at = 0;
  for (const auto& [name, t] : tensors) {
    const TypeName* type =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&t = t](const TypeName& k) { return k.dtype == t.dtype(); });
    if (type == std::end(kTypes))
      return fail(ErrorKind::InvalidArgumentError, "tensor '{}' of type {} has no place in a safetensors file", name,
                  dtype_name(t.dtype()));
    if (name == "__metadata__") return fail(ErrorKind::InvalidArgumentError, "no tensor may be called '__metadata__'");
    if (header.size() > 1) header += ',';
    put_string(header, name);
    header += fmt::format(":{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}", type->name, shape_text(t.dims()), at,
                          at + t.bytes());
    at += t.bytes();
  }
  header += '}';
  while (header.size() % 8 != 0) header += ' ';  // the elements are aligned
  uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof length);
  out.reserve(8 + header.size() + at);
  out += header;
  for (const Item& item : tensors) {
    Tensor dense = TFL_TRY(contiguous(context, item.second));
    out.append(reinterpret_cast<const char*>(dense.raw()), dense.bytes());
  }
  return out;
}

}  // namespace tfl
