#include "runtime/support/c_library.h"

#include <dlfcn.h>

namespace tfl {

namespace {

template <class T>
T* variable(const char* name) {
  return static_cast<T*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

char** environment() {
  char*** found = variable<char**>("environ");
  return found ? *found : nullptr;
}

long seconds_west() {
  const long* found = variable<long>("timezone");
  return found ? *found : 0;
}

const char* zone_name(bool summer) {
  char** found = variable<char*>("tzname");
  return found ? found[summer] : "UTC";
}

}  // namespace tfl
