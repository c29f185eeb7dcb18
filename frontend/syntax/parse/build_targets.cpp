// What may stand on the left of an assignment, after `for`, `as` and `del`.
#include "frontend/syntax/parse/tree_builder.h"

namespace tfl::parse {

using ast::Expr;
using ast::ExprKind;

std::string_view TreeBuilder::describe(const Expr* e) const {
  switch (e->kind) {
    case ExprKind::Constant:
      switch (static_cast<const ast::Constant*>(e)->constant) {
        case ast::ConstantKind::None: return "None";
        case ast::ConstantKind::True: return "True";
        case ast::ConstantKind::False: return "False";
        case ast::ConstantKind::Ellipsis: return "ellipsis";
        default: return "literal";
      }
    case ExprKind::FormattedString: return "f-string expression";
    case ExprKind::Name: return "name";
    case ExprKind::Attribute: return "attribute";
    case ExprKind::Subscript: return "subscript";
    case ExprKind::Call: return "function call";
    case ExprKind::Slice:
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::BoolOp: return "expression";
    case ExprKind::Compare: return "comparison";
    case ExprKind::Conditional: return "conditional expression";
    case ExprKind::Lambda: return "lambda";
    case ExprKind::NamedExpr: return "named expression";
    case ExprKind::Starred: return "starred";
    case ExprKind::Tuple: return "tuple";
    case ExprKind::ListDisplay: return "list";
    case ExprKind::SetDisplay: return "set display";
    case ExprKind::DictDisplay: return "dict literal";
    case ExprKind::Comprehension:
      switch (static_cast<const ast::Comprehension*>(e)->comprehension) {
        case ast::ComprehensionKind::List: return "list comprehension";
        case ast::ComprehensionKind::Set: return "set comprehension";
        case ast::ComprehensionKind::Dict: return "dict comprehension";
        case ast::ComprehensionKind::Generator: return "generator expression";
      }
      return "comprehension";
    case ExprKind::Yield:
    case ExprKind::YieldFrom: return "yield expression";
  }
  return "expression";
}

bool TreeBuilder::check_target(Expr* e, TargetUse use, bool nested) {
  bool single = use == TargetUse::Augmented || use == TargetUse::Annotated;
  switch (e->kind) {
    case ExprKind::Name:
    case ExprKind::Attribute:
    case ExprKind::Subscript: return true;
    case ExprKind::Tuple:
    case ExprKind::ListDisplay: {
      if (single) break;
      ast::List<Expr*> items =
          e->kind == ExprKind::Tuple ? static_cast<ast::Tuple*>(e)->items : static_cast<ast::ListDisplay*>(e)->items;
      bool starred = false;
      for (Expr* item : items) {
        if (item->kind == ExprKind::Starred && use != TargetUse::Delete) {
          if (starred) {
            report(DiagnosticId::TwoStarredTargets, item->span);
            return false;
          }
          starred = true;
          item = static_cast<ast::Starred*>(item)->value;
        }
        if (!check_target(item, use, true)) return false;
      }
      return true;
    }
    case ExprKind::Starred:
      if (use == TargetUse::Delete || single) break;
      report(nested ? DiagnosticId::StarredHere : DiagnosticId::StarredTargetAlone, e->span);
      return false;
    default: break;
  }
  std::string_view what = describe(e);
  bool constant = what == "None" || what == "True" || what == "False" || what == "ellipsis";
  switch (use) {
    case TargetUse::Delete: report(DiagnosticId::CannotDelete, e->span, {what}); break;
    case TargetUse::Augmented: report(DiagnosticId::IllegalAugmentedTarget, e->span, {what}); break;
    case TargetUse::Annotated:
      report(e->kind == ExprKind::Tuple || e->kind == ExprKind::ListDisplay ? DiagnosticId::AnnotatedSequence
                                                                            : DiagnosticId::IllegalAnnotation,
             e->span, {what});
      break;
    case TargetUse::For:
    case TargetUse::With: report(DiagnosticId::CannotAssign, e->span, {what}); break;
    case TargetUse::Assign:
      // `x + 1 = 2` and `f() = 2` may be meant as comparisons; nobody compares a tuple in parts.
      report(nested || constant ? DiagnosticId::CannotAssign : DiagnosticId::CannotAssignHere, e->span, {what});
      break;
  }
  return false;
}

Expr* TreeBuilder::target(Node* node, TargetUse use) {
  Children children(node);
  bool starred = children.accept(TokenKind::Star);
  Expr* e = operators(children.node());
  if (starred) e = arena_.make<ast::Starred>(Expr{ExprKind::Starred, span(node)}, e);
  if (use == TargetUse::With) check_target(e, use);
  return e;
}

Expr* TreeBuilder::target_list(Node* node, TargetUse use) {
  Children children(node);
  std::vector<Expr*> items;
  bool comma = false;
  while (!children.done()) {
    items.push_back(target(children.node(), use));
    comma = commas(children) || comma;
  }
  Expr* e = items.front();
  if (comma) e = arena_.make<ast::Tuple>(Expr{ExprKind::Tuple, span(node)}, arena_.list(items), false);
  check_target(e, use);
  return e;
}

}  // namespace tfl::parse
