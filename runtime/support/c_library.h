// Variables of the C library, asked for by name: code for programs takes them to lie in the program, and so could not be part of libtfl as well.
#pragma once

namespace tfl {

/// environ: the process's environment, null behind the last.
char** environment();
/// timezone and tzname[summer], as tzset left them.
long seconds_west();
const char* zone_name(bool summer);

}  // namespace tfl
