// The module `_dataclasses`: the methods that stdlib/python/dataclasses.tfl gives classes, written as bytecode, so that a call of them costs what one
// of a method written by hand does and its errors read as that one's.
#include "frontend/core/code.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/object/class.h"

namespace tfl::dataclasses {

namespace {

/// One method in the making.
class Method {
 public:
  Method(Interp& interp, const Value& like, const Value& name, const Value& qualname) : interp_(interp) {
    auto* model = like.as<Function>();
    module_ = model->module;
    const Code& around = *model->code.as<Code>();
    code_ = interp.allocate<Code>(interp.types.code);
    held_ = Value::adopt(code_);
    code_->name = interp.intern(text_of(name));
    code_->qualname = interp.intern(text_of(qualname));
    code_->doc = Value::none();
    code_->source = around.source;
    code_->span = around.span;
  }

  uint16_t parameter(Str* name, bool keyword_only) {
    code_->params.push_back({name, keyword_only ? ast::ParamKind::KeywordOnly : ast::ParamKind::PositionalOrKeyword});
    code_->register_names.push_back(name);
    ++(keyword_only ? code_->keyword_only : code_->positional);
    return next_++;
  }
  /// The first of `count` registers above all others.
  uint16_t temporaries(uint32_t count) {
    if (next_ + count > code_->registers) code_->registers = next_ + count;
    return next_;
  }
  uint16_t constant(Value v) {
    for (size_t i = 0; i < code_->constants.size(); ++i) {
      if (code_->constants[i].identical(v)) return static_cast<uint16_t>(i);
    }
    code_->constants.push_back(std::move(v));
    return static_cast<uint16_t>(code_->constants.size() - 1);
  }
  size_t put(Opcode op, uint16_t a, uint16_t b = 0, uint16_t c = 0, uint8_t x = 0) {
    code_->instructions.push_back({op, x, a, b, c});
    code_->spans.push_back({code_->span, {}});
    return code_->instructions.size() - 1;
  }
  void load(uint16_t to, Value v) {
    size_t at = put(Opcode::LoadConst, to);
    code_->instructions[at].set_bc(constant(std::move(v)));
  }
  size_t jump_if_false(uint16_t a) { return put(Opcode::JumpIfFalse, a); }
  /// A jump goes to what comes next.
  void land(size_t jump) { code_->instructions[jump].set_bc(static_cast<int32_t>(code_->instructions.size())); }

  bool fits() const { return code_->registers < 0xFFF0 && code_->constants.size() < 0xFFF0; }
  Value function(Value defaults, Value keyword_defaults) {
    auto* f = interp_.allocate<Function>(interp_.types.function);
    f->code = held_;
    f->module = module_;
    f->defaults = std::move(defaults);
    f->kw_defaults = std::move(keyword_defaults);
    f->name = interp_.str(code_->name);
    f->qualname = interp_.str(code_->qualname);
    f->doc = Value::none();
    return Value::adopt(f);
  }

 private:
  Interp& interp_;
  Code* code_ = nullptr;
  Value held_, module_;
  uint16_t next_ = 0;
};

/// What a row of make_init says of a field, in its order there.
struct Field {
  enum Part { kName, kParameter, kKeywordOnly, kInitOnly, kDefault, kFactory, kParts };
  const Value* parts;
  uint16_t place = 0;  // the parameter's register; 0: there is none

  explicit Field(const Value& row) : parts(row.as<Tuple>()->items) {}
  Str* name(Interp& interp) const { return interp.intern(text_of(parts[kName])); }
  bool is(Part part) const { return parts[part].is_bool() && parts[part].as_bool(); }
};

constexpr uint8_t kPlainly = 16;  // SetAttr as object.__setattr__ does it

/// make_init(like, qualname, rows, missing, by_factory, frozen, post_init): __init__ of a dataclass. A row is (name, is it a parameter, by
/// keyword only, for __post_init__ alone, default, factory), with `missing` for what is not there. `by_factory` is the default of what a
/// factory makes.
Result<Value> make_init(Interp& interp, Value* args) {
  const Value &missing = args[3], &by_factory = args[4];
  const uint8_t how = TFL_TRY(truth(interp, args[5])) ? kPlainly : 0;
  bool post_init = TFL_TRY(truth(interp, args[6]));
  std::vector<Field> fields;
  for (const Value& row : args[2].as<List>()->items) {
    if (!row.is(Kind::Tuple) || row.as<Tuple>()->size != Field::kParts || !row.as<Tuple>()->items[0].is_str()) {
      return fail(ErrorKind::SystemError, "a field of a dataclass is told in {} parts", static_cast<int>(Field::kParts));
    }
    fields.emplace_back(row);
  }
  Method m(interp, args[0], interp.str("__init__"), args[1]);
  bool named_self = false;
  for (const Field& f : fields) named_self = named_self || text_of(f.parts[Field::kName]) == "self";
  uint16_t self = m.parameter(interp.intern(named_self ? "__dataclass_self__" : "self"), false);
  std::vector<Value> defaults;
  Value keyword_defaults = interp.dict();
  for (bool keyword_only : {false, true}) {
    for (Field& f : fields) {
      if (!f.is(Field::kParameter) || f.is(Field::kKeywordOnly) != keyword_only) continue;
      f.place = m.parameter(f.name(interp), keyword_only);
      bool made = !f.parts[Field::kFactory].identical(missing);
      if (!made && f.parts[Field::kDefault].identical(missing)) continue;
      Value value = made ? by_factory : f.parts[Field::kDefault];
      if (keyword_only)
        dict_set_str(keyword_defaults.as<Dict>(), f.name(interp), value);
      else
        defaults.push_back(value);
    }
  }
  uint16_t t = m.temporaries(static_cast<uint32_t>(fields.size()) + 4);
  for (const Field& f : fields) {
    bool made = !f.parts[Field::kFactory].identical(missing);
    uint16_t value = f.place;
    if (f.place == 0) {
      if (!made && f.parts[Field::kDefault].identical(missing)) continue;
      value = t;
      m.load(t, made ? f.parts[Field::kFactory] : f.parts[Field::kDefault]);
      if (made) m.put(Opcode::Call, t, t, 0);
    } else if (made) {
      m.load(t, by_factory);
      m.put(Opcode::Is, t, f.place, t);
      size_t given = m.jump_if_false(t);
      m.load(t, f.parts[Field::kFactory]);
      m.put(Opcode::Call, f.place, t, 0);
      m.land(given);
    }
    if (!f.is(Field::kInitOnly)) m.put(Opcode::SetAttr, self, value, m.constant(interp.str(f.name(interp))), how);
  }
  if (post_init) {
    m.put(Opcode::LoadMethod, t, self, m.constant(interp.str(interp.intern("__post_init__"))));
    uint16_t count = 0;
    for (const Field& f : fields) {
      if (!f.is(Field::kInitOnly) || (f.place == 0 && f.parts[Field::kDefault].identical(missing))) continue;
      if (f.place)
        m.put(Opcode::Move, static_cast<uint16_t>(t + 2 + count), f.place);
      else
        m.load(static_cast<uint16_t>(t + 2 + count), f.parts[Field::kDefault]);
      ++count;
    }
    m.put(Opcode::CallMethod, t, t, count);
  }
  m.load(t, Value::none());
  m.put(Opcode::Return, t);
  if (!m.fits()) return fail(ErrorKind::ValueError, "a dataclass with too many fields");
  Value in_order = defaults.empty() ? Value() : interp.tuple(defaults);
  return m.function(in_order, keyword_defaults.as<Dict>()->live ? keyword_defaults : Value());
}

Result<Value> same_class(Interp& interp, Value* args) {
  return Value::boolean(interp.type_of(args[0]) == interp.type_of(args[1]));
}
constexpr NativeDef kSameClass = function("same_class", "a, b, /", same_class);

Result<void> need_names(const Value& names) {
  for (const Value& name : names.as<Tuple>()->span()) {
    if (!name.is_str()) return fail(ErrorKind::TypeError, "names of fields are texts");
  }
  return {};
}

/// make_compare(like, name, qualname, names): __eq__, __lt__ .. of a dataclass: NotImplemented for another class, else the tuples of what has
/// these names.
Result<Value> make_compare(Interp& interp, Value* args) {
  TFL_TRY(need_names(args[3]));
  const std::string& name = text_of(args[1]);
  Opcode op = name == "__eq__"   ? Opcode::Eq
              : name == "__lt__" ? Opcode::Lt
              : name == "__le__" ? Opcode::Le
              : name == "__gt__" ? Opcode::Gt
                                 : Opcode::Ge;
  Method m(interp, args[0], args[1], args[2]);
  uint16_t sides[2] = {m.parameter(interp.intern("self"), false), m.parameter(interp.intern("other"), false)};
  std::span<Value> names = args[3].as<Tuple>()->span();
  uint16_t t = m.temporaries(static_cast<uint32_t>(names.size()) + 4);
  m.load(t, interp.native(kSameClass));
  m.put(Opcode::Move, static_cast<uint16_t>(t + 1), sides[0]);
  m.put(Opcode::Move, static_cast<uint16_t>(t + 2), sides[1]);
  m.put(Opcode::Call, t, t, 2);
  size_t other_class = m.jump_if_false(t);
  for (uint16_t side = 0; side < 2; ++side) {
    auto at = static_cast<uint16_t>(t + side);
    for (size_t i = 0; i < names.size(); ++i) {
      Value field = interp.str(interp.intern(text_of(names[i])));
      m.put(Opcode::GetAttr, static_cast<uint16_t>(at + i), sides[side], m.constant(field));
    }
    m.put(Opcode::BuildTuple, at, at, static_cast<uint16_t>(names.size()));
  }
  m.put(op, t, t, static_cast<uint16_t>(t + 1));
  m.put(Opcode::Return, t);
  m.land(other_class);
  m.load(t, interp.not_implemented);
  m.put(Opcode::Return, t);
  if (!m.fits()) return fail(ErrorKind::ValueError, "a dataclass with too many fields");
  return m.function({}, {});
}

/// repr(object, names): its class and what has these names; "..." within itself.
Result<Value> repr_of(Interp& interp, Value* args) {
  Value self = args[0], names = args[1];
  if (!self.is_object()) return fail(ErrorKind::TypeError, "an object is required");
  TFL_TRY(need_names(names));
  Object* o = self.object();
  if (o->flags & kReprActive) return interp.str("...");
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  o->flags |= kReprActive;
  auto all = [&]() -> Result<std::string> {
    std::string out = interp.type_of(self)->qualname->text + "(";
    bool first = true;
    for (const Value& name : names.as<Tuple>()->span()) {
      Str* n = interp.intern(text_of(name));
      Value value = TFL_TRY(get_attr(interp, self, n));
      std::string text = TFL_TRY(repr_text(interp, value));
      if (!first) out += ", ";
      first = false;
      out += n->text + "=" + text;
    }
    return out + ")";
  };
  auto text = all();
  o->flags &= static_cast<uint8_t>(~kReprActive);
  if (!text) return text.failure();
  return interp.str(text.take());
}

/// values(object, names): what has these names, in their order.
Result<Value> values_of(Interp& interp, Value* args) {
  Value self = args[0], names = args[1];
  TFL_TRY(need_names(names));
  std::vector<Value> found;
  for (const Value& name : names.as<Tuple>()->span()) {
    Str* n = name.as<Str>()->interned ? name.as<Str>() : interp.intern(text_of(name));
    found.push_back(TFL_TRY(get_attr(interp, self, n)));
  }
  return interp.tuple(found);
}

constexpr NativeDef kFunctions[] = {
    function("make_init", "like: function, qualname: str, rows: list, missing, by_factory, frozen, post_init, /", make_init),
    function("make_compare", "like: function, name: str, qualname: str, names: tuple, /", make_compare),
    function("repr", "object, names: tuple, /", repr_of),
    function("values", "object, names: tuple, /", values_of),
};

}  // namespace

}  // namespace tfl::dataclasses

namespace tfl {

Result<void> init_dataclasses(Interp& interp, Module& module) {
  define_all(interp, module, dataclasses::kFunctions);
  return {};
}

}  // namespace tfl
