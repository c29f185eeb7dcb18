// tf.io.decode_csv: records of one line each to one tensor a column.
#include <charconv>
#include <cstdlib>
#include <vector>

#include "runtime/shapes/rules.h"

namespace tfl {

namespace {

using shape_rules::invalid;

// The fields of a record, as TensorFlow splits it.
Result<void> split(RunCall& call, const std::string& record, char separator, bool quotes, std::vector<std::string>& fields) {
  fields.clear();
  size_t i = 0, n = record.size();
  auto ends_line = [&](size_t at) { return record[at] == '\n' || record[at] == '\r'; };
  bool more = n > 0;
  while (more) {
    more = false;
    while (i < n && ends_line(i)) ++i;
    std::string field;
    if (!quotes || i >= n || record[i] != '"') {
      while (i < n && record[i] != separator) {
        if (quotes && (record[i] == '"' || ends_line(i)))
          return invalid(call.op, "Unquoted fields cannot have quotes/CRLFs inside");
        field += record[i++];
      }
      if (i < n) {
        ++i;
        more = true;
      }
    } else {
      ++i;
      while (i + 1 < n && (record[i] != '"' || record[i + 1] != separator)) {
        if (record[i] != '"') {
          field += record[i++];
        } else {
          if (record[i + 1] != '"') return invalid(call.op, "Quote inside a string has to be escaped by another quote");
          field += '"';
          i += 2;
        }
      }
      if (i >= n || record[i] != '"') return invalid(call.op, "Quoted field has to end with quote followed by delim or end");
      more = i + 1 < n;
      i += 2;
    }
    fields.push_back(std::move(field));
  }
  return {};
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

template <class T>
bool read_number(std::string_view text, T& value) {
  text = trimmed(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (std::is_floating_point_v<T> && problem == std::errc::result_out_of_range && end == text.data() + text.size()) {
    value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
    return true;
  }
  return problem == std::errc() && end == text.data() + text.size() && !text.empty();
}

template <class T>
Result<void> put_number(RunCall& call, Tensor& out, int64_t at, std::string_view text, size_t field, int64_t record) {
  if (read_number(text, out.data<T>()[at])) return {};
  return invalid(call.op, "Field {} in record {} is not a valid {}: {}", field, record, dtype_tf_name(out.dtype()), text);
}

Result<void> put_field(RunCall& call, Tensor& out, int64_t at, const std::string& text, size_t field, int64_t record) {
  switch (out.dtype()) {
    case DType::I32: return put_number<int32_t>(call, out, at, text, field, record);
    case DType::I64: return put_number<int64_t>(call, out, at, text, field, record);
    case DType::F32: return put_number<float>(call, out, at, text, field, record);
    case DType::F64: return put_number<double>(call, out, at, text, field, record);
    default: out.data<std::string>()[at] = text; return {};
  }
}

void put_default(Tensor& out, int64_t at, const Tensor& value) {
  switch (out.dtype()) {
    case DType::I32: out.data<int32_t>()[at] = value.data<int32_t>()[0]; break;
    case DType::I64: out.data<int64_t>()[at] = value.data<int64_t>()[0]; break;
    case DType::F32: out.data<float>()[at] = value.data<float>()[0]; break;
    case DType::F64: out.data<double>()[at] = value.data<double>()[0]; break;
    default: out.data<std::string>()[at] = value.data<std::string>()[0]; break;
  }
}

}  // namespace

Result<void> run_decode_csv(RunCall& call) {
  Tensor records = TFL_TRY(contiguous(call.context, call.operands[0]));
  size_t columns = call.operands.size() - 1;
  const Dims* selected = call.attrs.get_ints(Attr::select_columns);
  if (selected && selected->empty()) selected = nullptr;
  char separator = call.attrs.get_text(Attr::separator)[0];
  bool quotes = call.attrs.get_bool(Attr::use_quotes, true);
  std::string_view na = call.attrs.get_text(Attr::na_value);
  std::vector<Tensor> out;
  for (size_t i = 0; i < columns; ++i) out.push_back(TFL_TRY(call.allocate(i)));
  std::vector<std::string> fields;
  for (int64_t r = 0; r < records.size(); ++r) {
    const std::string& record = records.data<std::string>()[r];
    TFL_TRY(split(call, record, separator, quotes, fields));
    if (!selected && fields.size() != columns)
      return invalid(call.op, "Expect {} fields but have {} in record {}", columns, fields.size(), r);
    for (size_t i = 0; i < columns; ++i) {
      size_t field = selected ? static_cast<size_t>((*selected)[i]) : i;
      if (field >= fields.size()) return invalid(call.op, "Expect {} fields but have {} in record {}", columns, fields.size(), r);
      const std::string& text = fields[field];
      const Tensor& otherwise = call.operands[i + 1];
      if (!text.empty() && text != na) {
        TFL_TRY(put_field(call, out[i], r, text, field, r));
      } else if (otherwise.size() == 0) {
        return invalid(call.op, "Field {} is required but missing in record {}!", field, r);
      } else {
        put_default(out[i], r, otherwise);
      }
    }
  }
  for (Tensor& t : out) TFL_TRY(call.give(std::move(t)));
  return {};
}

}  // namespace tfl
