// Eigen's dot products as a plugin; c is added last. Build: g++ -O3 -march=native -shared -fPIC -I . -I
// /usr/include/eigen3 examples/eigen_dot.cc -o eigen_dot.so, and then plugin:./eigen_dot.so (docs/identify.md).
#include <Eigen/Core>
#include <bit>
#include <cstdio>
#include <cstring>

#include "oracles/units/plugin_abi.h"

extern "C" {

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }

const char* mmafuzz_plugin_name(void) { return "example.eigen_dot"; }

int mmafuzz_plugin_supports(const mmafuzz_op* op, char* reason, size_t size) {
  const auto single = [](const char* name) { return std::strcmp(name, "fp32") == 0; };
  const bool taken = std::strcmp(op->kind, "dot") == 0 && single(op->a) && single(op->b) && single(op->c) &&
                     single(op->d) && op->scale_block == 0;
  if (!taken) std::snprintf(reason, size, "it takes dots of fp32");
  return taken;
}

int mmafuzz_plugin_run(const mmafuzz_op* op, const mmafuzz_batch* batch) {
  const size_t k = static_cast<size_t>(op->k);
  Eigen::VectorXf a(op->k), b(op->k);
  const auto number = [](uint64_t encoding) { return std::bit_cast<float>(static_cast<uint32_t>(encoding)); };
  for (size_t i = 0; i < batch->n; ++i) {
    for (size_t j = 0; j < k; ++j) {
      a[static_cast<Eigen::Index>(j)] = number(batch->a[i * k + j]);
      b[static_cast<Eigen::Index>(j)] = number(batch->b[i * k + j]);
    }
    batch->result[i] = std::bit_cast<uint32_t>(a.dot(b) + number(batch->c[i]));
  }
  return 0;
}
}
