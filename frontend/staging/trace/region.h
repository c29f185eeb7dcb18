// Scopes as objects of the library (`_graph.Region`, `_graph.Trace`), and the nodes made of them: cond, switch_case, while_loop.
#pragma once

#include "frontend/core/scope.h"

namespace tfl {

struct RegionObject : Object {
  std::shared_ptr<Scope> scope;
  bool entered = false;
  Sink* saved_sink = nullptr;
  std::shared_ptr<Scope> saved_scope;
  std::string saved_names;
  std::string names;  // the name scope inside
};

Value region_value(Interp&, std::shared_ptr<Scope> scope, std::string names);
Result<Value> region_cond(Interp&, Value* args);
Result<Value> region_switch(Interp&, Value* args);
Result<Value> region_while(Interp&, Value* args);
/// A value given to a region's or function's results: a symbolic value of that scope or of one around it.
Result<ir::Ref> result_in(Interp&, Scope& scope, const Value& v, const Value* like);
}  // namespace tfl
