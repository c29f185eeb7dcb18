// What a file of another program is, by how it begins.
#pragma once

#include <string_view>

namespace tfl {

/// "a Keras archive (.keras)" and the like; empty for what is none of these.
std::string_view foreign_format(std::string_view head);

}  // namespace tfl
