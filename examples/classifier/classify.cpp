// The same through the C++ header: g++ -std=c++20 examples/classifier/classify.cpp -Iout -Lout -lclothes -Wl,-rpath,out -o classify
#include <cstdio>
#include <fstream>
#include <iterator>

#include "clothes.hpp"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: classify WEIGHTS PICTURE...\n");
    return 2;
  }
  try {
    clothes::context context;
    context.load(argv[1]);
    std::vector<float> x;
    for (int i = 2; i < argc; ++i) {
      std::ifstream file(argv[i], std::ios::binary);
      std::string bytes(std::istreambuf_iterator<char>(file), {});
      if (bytes.size() != 784) throw std::runtime_error(std::string(argv[i]) + " is no picture of 784 bytes");
      for (char c : bytes) x.push_back(static_cast<float>(static_cast<unsigned char>(c)) / 255.0f);
    }
    int64_t n = argc - 2;
    std::vector<int32_t> labels(static_cast<size_t>(n));
    std::vector<float> probabilities(static_cast<size_t>(n));
    context.classify(x.data(), n, labels.data(), probabilities.data());
    for (int64_t i = 0; i < n; ++i) std::printf("%s: %d (%.1f %%)\n", argv[i + 2], labels[static_cast<size_t>(i)], 100.0 * static_cast<double>(probabilities[static_cast<size_t>(i)]));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
