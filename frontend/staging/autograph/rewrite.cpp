#include "frontend/staging/autograph/rewrite.h"

#include "frontend/staging/autograph/clone.h"
#include "frontend/staging/autograph/converter.h"
#include "frontend/staging/autograph/find.h"
#include "frontend/syntax/ast/unparse.h"

namespace tfl::autograph {

namespace {

/// Appends the converted text of the functions that `path` names below `block`.
void append_converted(Block block, std::string_view path, std::string_view owner, std::string& out) {
  std::string_view first = path.substr(0, path.find('.'));
  std::string_view rest = first.size() == path.size() ? std::string_view() : path.substr(first.size() + 1);
  for (const Stmt* s : block) {
    if (s->kind == StmtKind::ClassDef && !rest.empty() && as<ClassDef>(s)->name == first)
      append_converted(as<ClassDef>(s)->body, rest, first, out);
    if (s->kind != StmtKind::FunctionDef || (!path.empty() && as<FunctionDef>(s)->name != first)) continue;
    if (!rest.empty()) {
      append_converted(as<FunctionDef>(s)->body, rest, owner, out);
      continue;
    }
    Arena arena;
    Builder build(arena);
    std::unordered_set<const void*> helpers;
    auto* def = as<FunctionDef>(clone(arena, s));
    def->decorators = {};
    if (!is_generator(def)) Converter(build, owner, helpers).function(def);
    if (!out.empty()) out += '\n';
    out += unparse(def);
  }
}

}  // namespace

std::string converted_text(const Source& source, std::string_view path) {
  ParseResult parsed = parse_module(source);
  std::string out;
  if (parsed.ok()) append_converted(parsed.module.body, path, {}, out);
  return out;
}

Rewritten rewrite(const Source& source, Span span, bool lambda, const std::vector<std::string_view>& free_names) {
  Rewritten out;
  if (!source.parsed) source.parsed = std::make_shared<ParseResult>(parse_module(source));
  out.parsed = source.parsed;
  Found found = find_definition(out.parsed->module.body, span, lambda);
  if (!found.def && !found.lambda) return out;
  out.arena = std::make_unique<Arena>();
  Builder build(*out.arena);
  Converter converter(build, found.owner, out.helpers);
  Stmt* inside = nullptr;
  if (found.def) {
    out.def = as<FunctionDef>(clone(*out.arena, static_cast<const Stmt*>(found.def)));
    out.generator = is_generator(out.def);
    if (out.generator) return out;
    out.def->decorators = {};
    converter.function(out.def);
    inside = out.def;
  } else {
    out.lambda = as<Lambda>(clone(*out.arena, static_cast<const Expr*>(found.lambda)));
    bool yields = false;
    each_node(out.lambda->body, [&](const Expr* e) {
      yields = yields || e->kind == ExprKind::Yield || e->kind == ExprKind::YieldFrom;
      return true;
    });
    out.generator = yields;
    if (yields) return out;
    converter.lambda(out.lambda);
    inside = build.expression(out.lambda);
  }
  std::vector<Stmt*> body{build.assign(kOperators, build.constant(ConstantKind::None, span), span)};
  for (std::string_view name : free_names) {
    if (name != "__class__") body.push_back(build.assign(name, build.constant(ConstantKind::None, span), span));
  }
  if (!found.owner.empty()) {
    // For names like __x, and for __class__. Underscores in front change nothing for these, and leave the class's own name to who bound it.
    std::string name = "________" + std::string(found.owner);
    auto* owner = out.arena->make<ClassDef>(Stmt{StmtKind::ClassDef, span}, build.intern(name), span, List<Expr*>{}, nullptr,
                                            build.block({inside}));
    out.wrappers.push_back(owner);
    inside = owner;
  }
  body.push_back(inside);
  FunctionDef* around = build.function("around", {}, body, span);
  out.wrappers.push_back(around);
  out.module.body = build.block({around});
  return out;
}

}  // namespace tfl::autograph
