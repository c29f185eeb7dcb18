// Two libraries in one C++20 program, through their headers for C++.
#include <cstdio>
#include <cstring>

#include "functions.hpp"
#include "other.hpp"

int main() {
  functions::context one;
  other::context two(1);
  float x[3] = {1, 2, 3}, y[3] = {10, 20, 30}, sum[3], product[3];
  one.add(x, y, 3, sum);
  two.scale(x, 3, product);
  if (sum[2] != 33 || product[2] != 9) return 1;
  try {
    one.add(x, y, -1, sum);
    return 2;
  } catch (const functions::error& e) {
    if (e.status() != TFL_ERR_SHAPE || !std::strstr(e.what(), "add")) return 3;
  }
  functions::context moved = std::move(one);
  moved.add(x, x, 3, sum);
  std::puts(sum[0] == 2 ? "all right" : "wrong");
  return sum[0] != 2;
}
