// Elements of NumPy's arrays of objects. Such an array is a tensor of strings: an element that is a str lies there as its UTF-8, any other
// object as a code that no text begins with. Views, copies and moves know nothing of it.
#pragma once

#include <string>

#include "frontend/core/interp.h"

namespace tfl {

/// Whether an element of an array of objects is the code of something other than a str.
inline bool is_object_code(const std::string& s) { return !s.empty() && s[0] == '\xFF'; }

/// The string that stands for an object, and the object it stands for. Objects that are neither numbers nor bytes are kept as long as the
/// interpreter runs, once each: nobody knows how many arrays hold their codes.
Result<std::string> object_code(Interp& interp, const Value& v);
Result<Value> object_of(Interp& interp, const std::string& s);

}  // namespace tfl
