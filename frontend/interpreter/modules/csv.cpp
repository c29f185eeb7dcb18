// The module `_csv`: the reader and the writer of stdlib/python/csv.tfl, which settles the dialect. The class of errors is put into it by that module.
#include <array>

#include "frontend/core/attributes.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/text/float_text.h"
#include "frontend/text/utf8.h"

namespace tfl::csv {

namespace {

enum Quoting : int64_t { kMinimal, kAll, kNonNumeric, kNone };
constexpr int64_t kFieldLimit = 131072;

struct Dialect {
  Value object;                                      // what scripts see
  std::string delimiter, quote, escape, terminator;  // one character each, or none; the last is any text
  bool double_quote = true, skip_space = false, strict = false;
  int64_t quoting = kMinimal;
  std::array<bool, 256> special{};  // bytes that the characters above and the ends of lines begin with
  std::array<bool, 256> ends{};     // bytes that the characters of the terminator begin with
};

struct Reader : Object {
  Dialect dialect;
  Value lines, limit;  // an iterator; the list that holds field_size_limit's number
  int64_t line = 0;
};

struct Writer : Object {
  Dialect dialect;
  Value write;
};

Failure wrong(Interp& interp, const std::string& text) { return module_error(interp, "_csv", "Error", text); }

/// The options in the order that csv.tfl gives them in.
Result<void> take_dialect(Interp& interp, Value* args, Dialect& d) {
  d.object = args[0];
  std::string* texts[] = {&d.delimiter, &d.quote, &d.escape, &d.terminator};
  for (int i = 0; i < 4; ++i) {
    if (args[1 + i].is_str()) *texts[i] = text_of(args[1 + i]);
  }
  d.double_quote = TFL_TRY(truth(interp, args[5]));
  d.skip_space = TFL_TRY(truth(interp, args[6]));
  d.quoting = TFL_TRY(to_index(interp, args[7]));
  d.strict = TFL_TRY(truth(interp, args[8]));
  for (const std::string* text : {&d.delimiter, &d.quote, &d.escape}) {
    if (!text->empty()) d.special[static_cast<unsigned char>((*text)[0])] = true;
  }
  for (unsigned char c : d.terminator) d.ends[c] = d.special[c] = true;
  d.special['\n'] = d.special['\r'] = true;
  return {};
}

bool stands_at(std::string_view text, size_t at, const std::string& character) {
  return !character.empty() && text.compare(at, character.size(), character) == 0;
}

size_t character_size(std::string_view text, size_t at) {
  auto c = static_cast<unsigned char>(text[at]);
  return std::min<size_t>(text.size() - at, c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4);
}

// ---------------------------------------------------------------------------------------------------------- reading

/// One row in the making: CPython's states and what each does with a character.
class Row {
 public:
  Row(Interp& interp, const Reader& reader)
      : interp_(interp), d_(reader.dialect), limit_(reader.limit.as<List>()->items[0].as_int()) {}

  bool between_rows() const { return state_ == State::Start; }
  bool unfinished() const { return !field_.empty() || state_ == State::Quoted; }
  Value take() { return interp_.list(std::move(fields_)); }

  Result<void> line(std::string_view text) {
    for (size_t at = 0; at < text.size();) TFL_TRY(step(text, at));
    return end_of_line();
  }

  Result<void> save() {
    if (numeric_) {
      numeric_ = false;
      auto number = parse_float(field_);
      if (!number) {
        std::string shown = TFL_TRY(repr_text(interp_, interp_.str(field_)));
        return fail(ErrorKind::ValueError, "could not convert string to float: {}", shown);
      }
      fields_.push_back(Value::real(*number));
    } else {
      fields_.push_back(interp_.str(std::string(field_)));
      if (plain_) fields_.back().as<Str>()->length = static_cast<int64_t>(field_.size());
    }
    field_.clear();
    plain_ = true;
    return {};
  }

 private:
  enum class State { Start, Field, Escaped, InField, Quoted, QuotedEscape, QuoteInQuoted, EatLine, AfterEscapedLine };

  Result<void> add(std::string_view text) {
    for (char c : text) plain_ = plain_ && c >= 0;
    if (static_cast<int64_t>(field_.size() + text.size()) > limit_) {
      int64_t length = plain_ ? static_cast<int64_t>(field_.size() + text.size()) : utf8::count(field_) + utf8::count(text);
      if (length > limit_) return wrong(interp_, fmt::format("field larger than field limit ({})", limit_));
    }
    TFL_TRY(guard_memory(interp_, field_.capacity() - field_.size() < text.size() ? field_.size() * 2 : 0));
    field_.append(text);
    return {};
  }
  /// What stands there up to the next special byte.
  Result<void> add_run(std::string_view text, size_t& at) {
    size_t end = at + character_size(text, at);
    while (end < text.size() && !d_.special[static_cast<unsigned char>(text[end])]) ++end;
    std::string_view run = text.substr(at, end - at);
    at = end;
    return add(run);
  }
  Result<void> end_field(State then) {
    state_ = then;
    return save();
  }

  Result<void> step(std::string_view text, size_t& at) {
    bool line_end = text[at] == '\n' || text[at] == '\r';
    switch (state_) {
      case State::Start:
        if (line_end) {
          state_ = State::EatLine;
          ++at;
          return {};
        }
        state_ = State::Field;
        [[fallthrough]];
      case State::Field:
        if (line_end) {
          ++at;
          return end_field(State::EatLine);
        }
        if (d_.quoting != kNone && stands_at(text, at, d_.quote)) {
          state_ = State::Quoted;
          at += d_.quote.size();
          return {};
        }
        if (stands_at(text, at, d_.escape)) {
          state_ = State::Escaped;
          at += d_.escape.size();
          return {};
        }
        if (text[at] == ' ' && d_.skip_space) {
          ++at;
          return {};
        }
        if (stands_at(text, at, d_.delimiter)) {
          at += d_.delimiter.size();
          return end_field(State::Field);
        }
        if (d_.quoting == kNonNumeric) numeric_ = true;
        state_ = State::InField;
        return add_run(text, at);
      case State::AfterEscapedLine:
      case State::InField:
        if (line_end) {
          ++at;
          return end_field(State::EatLine);
        }
        if (stands_at(text, at, d_.escape)) {
          state_ = State::Escaped;
          at += d_.escape.size();
          return {};
        }
        if (stands_at(text, at, d_.delimiter)) {
          at += d_.delimiter.size();
          return end_field(State::Field);
        }
        // A second line behind an escaped end goes on as the field does.
        return add_run(text, at);
      case State::Escaped: {
        size_t size = character_size(text, at);
        state_ = line_end ? State::AfterEscapedLine : State::InField;
        at += size;
        return add(text.substr(at - size, size));
      }
      case State::Quoted:
        if (stands_at(text, at, d_.escape)) {
          state_ = State::QuotedEscape;
          at += d_.escape.size();
          return {};
        }
        if (d_.quoting != kNone && stands_at(text, at, d_.quote)) {
          state_ = d_.double_quote ? State::QuoteInQuoted : State::InField;
          at += d_.quote.size();
          return {};
        }
        return add_run(text, at);
      case State::QuotedEscape: {
        size_t size = character_size(text, at);
        state_ = State::Quoted;
        at += size;
        return add(text.substr(at - size, size));
      }
      case State::QuoteInQuoted:
        if (d_.quoting != kNone && stands_at(text, at, d_.quote)) {
          state_ = State::Quoted;
          at += d_.quote.size();
          return add(d_.quote);
        }
        if (stands_at(text, at, d_.delimiter)) {
          at += d_.delimiter.size();
          return end_field(State::Field);
        }
        if (line_end) {
          ++at;
          return end_field(State::EatLine);
        }
        if (d_.strict) return wrong(interp_, fmt::format("'{}' expected after '{}'", d_.delimiter, d_.quote));
        state_ = State::InField;
        return add_run(text, at);
      case State::EatLine:
        if (!line_end) {
          return wrong(interp_,
                       "new-line character seen in unquoted field - do you need to open the file in universal-newline mode?");
        }
        ++at;
        return {};
    }
    return {};
  }

  Result<void> end_of_line() {
    switch (state_) {
      case State::Start:
      case State::Quoted:
      case State::AfterEscapedLine: return {};
      case State::EatLine: state_ = State::Start; return {};
      case State::Field:
      case State::InField:
      case State::QuoteInQuoted: return end_field(State::Start);
      case State::Escaped: state_ = State::InField; return add("\n");
      case State::QuotedEscape: state_ = State::Quoted; return add("\n");
    }
    return {};
  }

  Interp& interp_;
  const Dialect& d_;
  int64_t limit_;
  State state_ = State::Start;
  bool numeric_ = false, plain_ = true;
  std::string field_;
  std::vector<Value> fields_;
};

Result<Value> itself(Interp&, const Value& self) { return self; }

Result<Value> next_row(Interp& interp, const Value& self) {
  Value keep = self;
  auto* reader = self.as<Reader>();
  Row row(interp, *reader);
  do {
    Value lines = reader->lines;
    Value line = TFL_TRY(next(interp, lines));
    if (line.is_empty()) {
      if (!row.unfinished()) return Value();
      if (reader->dialect.strict) return wrong(interp, "unexpected end of data");
      TFL_TRY(row.save());
      break;
    }
    if (!line.is_str()) {
      return wrong(interp, fmt::format("iterator should return strings, not {} (the file should be opened in text mode)",
                                       interp.type_name(line)));
    }
    ++reader->line;
    TFL_TRY(row.line(text_of(line)));
  } while (!row.between_rows());
  return row.take();
}

Result<Value> line_number(Interp&, Value* args) { return Value::integer(args[0].as<Reader>()->line); }
Result<Value> reader_dialect(Interp&, Value* args) { return args[0].as<Reader>()->dialect.object; }

constexpr Slots reader_slots() {
  Slots slots{};
  slots.kind = Kind::Native;
  slots.destroy = destroy_object<Reader>;
  slots.iter = itself;
  slots.next = next_row;
  return slots;
}
const Slots kReaderSlots = reader_slots();
constexpr NativeDef kReaderMethods[] = {getter("line_num", line_number), getter("dialect", reader_dialect)};

// ---------------------------------------------------------------------------------------------------------- writing

/// A field's text behind what `out` holds, in quotes where they are needed.
Result<void> append_field(Interp& interp, const Dialect& d, std::string_view text, bool quoted, bool alone, std::string& out) {
  size_t begin = out.size();
  out.reserve(begin + text.size() + 2);
  size_t run = 0;
  for (size_t at = 0; at < text.size();) {
    if (!d.special[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    size_t size = character_size(text, at);
    std::string_view c = text.substr(at, size);
    if (c == d.delimiter || c == d.escape || c == d.quote ||
        (d.ends[static_cast<unsigned char>(c[0])] && d.terminator.find(c) != std::string::npos)) {
      bool escape = d.quoting == kNone || (c == d.quote ? !d.double_quote : c == d.escape);
      out.append(text, run, at - run);
      run = at;
      if (escape) {
        if (d.escape.empty()) return wrong(interp, "need to escape, but no escapechar set");
        out += d.escape;
      } else {
        if (c == d.quote) out += d.quote;
        quoted = true;
      }
    }
    at += size;
  }
  out.append(text, run);
  if (text.empty() && alone) {
    if (d.quoting == kNone) return wrong(interp, "single empty field record must be quoted");
    quoted = true;
  }
  if (!quoted) return {};
  out.insert(begin, d.quote);
  out += d.quote;
  return {};
}

bool is_number(Interp& interp, const Value& v) {
  if (v.is_int() || v.is_float() || v.is_bool() || v.is(Kind::Boxed) || v.is(Kind::NumPyScalar)) return true;
  Type* type = interp.type_of(v);
  if (type->is_subtype_of(interp.types.int_)) return true;
  return type->script && (script_lookup(interp, type, interp.sym.__float__) || script_lookup(interp, type, interp.sym.__int__) ||
                          script_lookup(interp, type, interp.sym.__index__));
}

Result<void> append_value(Interp& interp, const Dialect& d, const Value& v, bool alone, std::string& out) {
  bool quoted = d.quoting == kAll || (d.quoting == kNonNumeric && !is_number(interp, v));
  if (v.is_str()) return append_field(interp, d, text_of(v), quoted, alone, out);
  if (v.is_none()) return append_field(interp, d, {}, quoted, alone, out);
  if (v.is_float()) return append_field(interp, d, float_repr(v.as_float()), quoted, alone, out);
  std::string text = TFL_TRY(str_text(interp, v));
  return append_field(interp, d, text, quoted, alone, out);
}

Result<Value> write_row(Interp& interp, Writer* writer, const Value& row) {
  const Dialect& d = writer->dialect;
  std::vector<Value> items;
  auto values = iter(interp, row);
  if (!values) {
    if (values.error().kind != ErrorKind::TypeError) return values.failure();
    return wrong(interp, fmt::format("iterable expected, not {}", interp.type_name(row)));
  }
  for (;;) {
    Value item = TFL_TRY(next(interp, *values));
    if (item.is_empty()) break;
    items.push_back(std::move(item));
  }
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += d.delimiter;
    TFL_TRY(append_value(interp, d, items[i], items.size() == 1, out));
    TFL_TRY(guard_memory(interp, out.size() < kSmallGrowth || out.capacity() > out.size() + 256 ? 0 : out.size()));
  }
  out += d.terminator;
  Value write = writer->write;
  return interp.call(write, {interp.str(std::move(out))});
}

Result<Value> writer_row(Interp& interp, Value* args) { return write_row(interp, args[0].as<Writer>(), args[1]); }

Result<Value> writer_rows(Interp& interp, Value* args) {
  Value self = args[0];
  TFL_TRY(for_each(interp, args[1], [&](Value row) -> Result<bool> {
    TFL_TRY(write_row(interp, self.as<Writer>(), row));
    return true;
  }));
  return Value::none();
}

Result<Value> writer_dialect(Interp&, Value* args) { return args[0].as<Writer>()->dialect.object; }

constexpr Slots writer_slots() {
  Slots slots{};
  slots.kind = Kind::Native;
  slots.destroy = destroy_object<Writer>;
  return slots;
}
const Slots kWriterSlots = writer_slots();
constexpr NativeDef kWriterMethods[] = {
    method("writerow", "self, row, /", writer_row),
    method("writerows", "self, rows, /", writer_rows),
    getter("dialect", writer_dialect),
};

// ---------------------------------------------------------------------------------------------------------- the module

Result<Value> make_reader(Interp& interp, Value* args) {
  Type* type = TFL_TRY(module_type(interp, "_csv", "reader", kReaderSlots));
  Value made = Value::adopt(interp.allocate<Reader>(type));
  made.as<Reader>()->lines = args[0];
  made.as<Reader>()->limit = dict_get_str(interp.find_module("_csv").as<Module>()->dict.as<Dict>(), interp.intern("_limit"));
  TFL_TRY(take_dialect(interp, args + 1, made.as<Reader>()->dialect));
  return made;
}

Result<Value> make_writer(Interp& interp, Value* args) {
  Type* type = TFL_TRY(module_type(interp, "_csv", "writer", kWriterSlots));
  Value made = Value::adopt(interp.allocate<Writer>(type));
  made.as<Writer>()->write = args[0];
  TFL_TRY(take_dialect(interp, args + 1, made.as<Writer>()->dialect));
  return made;
}

#define TFL_CSV_OPTIONS \
  "dialect, delimiter, quotechar, escapechar, lineterminator, doublequote, skipinitialspace, quoting, strict, /"
constexpr NativeDef kFunctions[] = {
    function("make_reader", "lines, " TFL_CSV_OPTIONS, make_reader),
    function("make_writer", "write, " TFL_CSV_OPTIONS, make_writer),
};
#undef TFL_CSV_OPTIONS

}  // namespace

}  // namespace tfl::csv

namespace tfl {

Result<void> init_csv(Interp& interp, Module& module) {
  define_all(interp, module, csv::kFunctions);
  define_native_type(interp, module, "reader", csv::kReaderSlots, csv::kReaderMethods);
  define_native_type(interp, module, "writer", csv::kWriterSlots, csv::kWriterMethods);
  define(interp, module, "_limit", interp.list({Value::integer(csv::kFieldLimit)}));
  return {};
}

}  // namespace tfl
