// Globals that a trace has frozen.
#include "frontend/staging/trace/frozen.h"

#include "frontend/core/attributes.h"
#include "frontend/core/code.h"

namespace tfl {

namespace {

constexpr size_t kMost = 32;

bool is_plain(const Value& v) { return v.is_none() || v.is_bool() || v.is_int() || v.is_float() || v.is_str(); }

bool same(const Value& a, const Value& b) {
  if (a.identical(b)) return true;
  return a.is_str() && b.is_str() && a.as<Str>()->text == b.as<Str>()->text;
}

void collect(Code* code, const Value& module, std::vector<FrozenGlobal>& found, int depth) {
  if (depth > 8) return;
  Dict* names = module.as<Module>()->dict.as<Dict>();
  for (const Instruction& i : code->instructions) {
    if (i.op != Opcode::LoadGlobal || found.size() >= kMost) continue;
    const Value& k = code->constants[i.b];
    if (!k.is_str()) continue;
    const Value* v = dict_entry(names, k.as<Str>());
    if (!v || !is_plain(*v)) continue;
    // A name that the function sets is its own counter or flag.
    bool known = false;
    for (const Instruction& other : code->instructions)
      known |= other.op == Opcode::StoreGlobal && code->constants[other.b].identical(k);
    for (const FrozenGlobal& f : found) known |= f.name == k.as<Str>();
    if (!known) found.push_back({module, k.as<Str>(), *v});
  }
  for (const Value& c : code->constants) {
    if (c.is(Kind::Code)) collect(c.as<Code>(), module, found, depth + 1);
  }
}

}  // namespace

std::vector<FrozenGlobal> frozen_globals(Interp&, const Value& function) {
  std::vector<FrozenGlobal> found;
  Value f = function.is(Kind::BoundMethod) ? function.as<BoundMethod>()->function : function;
  if (!f.is(Kind::Function) || !f.as<Function>()->module.is(Kind::Module)) return found;
  Code* code = f.as<Function>()->code.as<Code>();
  // What the library's modules hold is their own business.
  if (!code->source || !code->source->internal) collect(code, f.as<Function>()->module, found, 0);
  return found;
}

void check_frozen(Interp& interp, std::string_view function, std::vector<FrozenGlobal>& frozen) {
  for (size_t i = 0; i < frozen.size();) {
    const FrozenGlobal& f = frozen[i];
    const Value* now = dict_entry(f.module.as<Module>()->dict.as<Dict>(), f.name);
    if (now && same(*now, f.value)) {
      ++i;
      continue;
    }
    auto before = repr_text(interp, f.value);
    auto after = now ? repr_text(interp, *now) : Result<std::string>(std::string("gone"));
    if (before && after) {
      interp.streams.err(
          fmt::format("WARNING:tfl: '{}' was traced when the global '{}' was {}, and goes on with that value; it is {} now. "
                      "Make it a tf.Variable, or pass it as an argument.\n",
                      function, f.name->text, *before, *after));
    }
    frozen.erase(frozen.begin() + static_cast<ptrdiff_t>(i));
  }
}

}  // namespace tfl
