// The main() of the unit tests; the tests are in the *_test.cpp files beside this one.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
