// The parameters of a native function, parsed from its row's text on the first call.
#pragma once

#include <memory>

#include "frontend/core/object.h"

namespace tfl {

struct Signature {
  struct Param {
    Str* name;
    ast::ParamKind kind;
    bool required;
    Value default_value;    // Empty when required, or when the default is `...`
    uint64_t kinds = 0;     // what a value may be (`name: str|None`): a bit for each tag and kind; 0: anything
    std::string_view type;  // ... as it is written
  };
  std::vector<Param> params;
  uint16_t positional = 0;  // parameters that take positional arguments: the first ones
  uint16_t positional_only = 0;
  uint16_t required = 0;        // positional ones without default
  int16_t var_positional = -1;  // number of *args among params, or -1
  int16_t var_keyword = -1;
  bool simple = false;  // nothing but positional parameters
  bool typed = false;   // some parameter says what it may be: natives read such arguments without looking
  bool slash = false;   // written with `/`: errors read as those of CPython's natives
  bool asks = false;  // objects among the arguments may have something to run in its place (vm/instead.cpp); then never `simple`
};

std::unique_ptr<Signature> parse_signature(Interp& interp, std::string_view text);

/// Binds arguments and calls nothing: what is wrong with them. `with_self`: the first one is the object of a method.
Result<void> bind_native_call(Interp& interp, NativeFunction* f, CallArgs& args, bool with_self);

/// What an argument's class has in its `_tf_operations` for calls of `f` runs instead. Empty: nothing there has something.
Result<Value> call_instead(Interp& interp, const NativeFunction* f, const CallArgs& args);

/// Calls native code with a CallArgs; `self_bound` tells whether the first argument came from an attribute look-up.
Result<Value> call_native(Interp& interp, NativeFunction* f, CallArgs& args);

}  // namespace tfl
