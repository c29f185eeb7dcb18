// Names of nodes, as TensorFlow chooses them, and the places in the script where nodes come from.
#include "frontend/core/advice.h"
#include "frontend/core/code.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/scope.h"

namespace tfl {

namespace {

struct OpName {
  Op op;
  std::string_view name;
};

/// Where the name is not the operation's.
constexpr OpName kNames[] = {
    {Op::add, "Add"},
    {Op::subtract, "Sub"},
    {Op::multiply, "Mul"},
    {Op::divide, "truediv"},
    {Op::floordiv, "floordiv"},
    {Op::mod, "FloorMod"},
    {Op::pow, "Pow"},
    {Op::matmul, "MatMul"},
    {Op::stack, "stack"},
    {Op::concat, "concat"},
    {Op::strided_slice, "strided_slice"},
    {Op::unstack, "unstack"},
    {Op::split, "split"},
    {Op::split_v, "split"},
    {Op::transpose, "transpose"},
    {Op::range, "range"},
    {Op::one_hot, "one_hot"},
    {Op::eye, "eye/diag"},
    {Op::pad, "Pad"},
    {Op::reverse, "Reverse"},
    {Op::sort, "sort"},
    {Op::argsort, "argsort"},
    {Op::fill, "Fill"},
    {Op::cond, "cond"},
    {Op::while_loop, "while"},
    {Op::switch_case, "switch_case/indexed_case"},
    {Op::boolean_mask, "boolean_mask/GatherV2"},
    {Op::call, "StatefulPartitionedCall"},
    {Op::check, "Assert"},
    {Op::stateless_uniform, "random_uniform"},
    {Op::stateless_normal, "random_normal"},
    {Op::stateless_truncated_normal, "truncated_normal"},
    {Op::negative, "Neg"},
    {Op::squeeze, "Squeeze"},
    {Op::top_k, "TopKV2"},
};

bool is_user_code(const Code* code) { return code && code->source && !code->source->internal; }

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
  return h * 0xFF51AFD7ED558CCDull;
}

/// What Location::source points to: enough for a line of a traceback.
struct Place {
  Value code;
  Span span, anchor;
};

}  // namespace

std::string_view default_name(Op op) {
  for (const OpName& n : kNames) {
    if (n.op == op) return n.name;
  }
  return op_info(op).tf_name;
}

std::string unique_name(Interp& interp, Scope& scope, std::string_view base) {
  const std::string& around = interp.tensors->name_scope;
  std::string full = base.starts_with(around) ? std::string(base) : around + std::string(base);
  // Names that differ in case alone are the same to TensorFlow.
  auto key = [](std::string name) {
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return name;
  };
  uint32_t used = scope.names[key(full)]++;
  if (used == 0) return full;
  for (;; ++used) {
    std::string numbered = full + "_" + std::to_string(used);
    uint32_t& taken = scope.names[key(numbered)];
    if (taken++ == 0) {
      scope.names[key(full)] = used + 1;
      return numbered;
    }
  }
}

uint32_t current_location(Interp& interp, Scope& scope) {
  Scope* root = scope.root();
  SmallVec<Frame*, 8> frames;
  uint64_t key = 0;
  for (Frame* f = interp.frame; f && f != root->root_frame; f = f->back) {
    if (!is_user_code(f->code)) continue;
    frames.push_back(f);
    key = mix(key, reinterpret_cast<uintptr_t>(f->ip));
  }
  if (frames.empty()) {
    // An operation called as the traced function itself: the place that calls it.
    return 0;
  }
  auto found = root->locations.find(key);
  if (found != root->locations.end()) return found->second;
  Tracer& tracer = tracer_of(interp);
  uint32_t caller = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    Frame* f = frames[i];
    auto instruction = static_cast<uint32_t>(f->ip - f->code->instructions.data());
    InstructionSpan at = f->code->span_at(instruction);
    auto& place = tracer.places[reinterpret_cast<uintptr_t>(f->ip)];
    const auto* known = static_cast<const Place*>(place.get());
    if (!known || known->code.counted() != f->code)
      place = std::make_shared<Place>(Place{Value::share(f->code), at.span, at.anchor});
    ir::Location l;
    l.file = f->code->source->name;
    l.function = f->code->qualname ? f->code->qualname->text : std::string();
    l.line = at.span.line;
    l.column = at.span.column;
    l.end_line = at.span.end_line;
    l.end_column = at.span.end_column;
    l.caller = caller;
    l.source = place;
    caller = root->function->locations->add(std::move(l));
  }
  root->locations.emplace(key, caller);
  return caller;
}

void add_location_trace(Interp& interp, Error& error, const ir::Locations& locations, uint32_t location) {
  Value exception = interp.exception_of(error);
  auto* e = exception.as<Exception>();
  for (int guard = 0; location != 0 && guard < 1000; ++guard) {
    if (location >= locations.size()) return;
    const ir::Location& l = locations[location];
    if (const auto* place = static_cast<const Place*>(l.source.get())) {
      Code* code = place->code.as<Code>();
      ++code->refs;
      e->trace.push_back({code, place->span, place->anchor});
    }
    location = l.caller;
  }
  // The failing line is one of these: the frame that called the graph says nothing about its values.
  if (!e->trace.empty()) no_values(interp, e);
}

}  // namespace tfl
