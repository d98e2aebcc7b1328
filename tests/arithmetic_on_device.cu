// The arithmetic of the models compiles for devices from the same headers: one kernel that evaluates any row, and one
// that converts.
#include "arithmetic/convert_bulk.h"
#include "arithmetic/counter_rng.h"
#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {

__global__ void evaluate_rows(const DotModel* models, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                              uint64_t* d, int k) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  CounterRng rng(1, static_cast<uint64_t>(i));
  DotOperands in;
  in.a = a + i * k;
  in.b = b + i * k;
  in.c = c[i] ^ (rng.next() & 1);
  in.k = k;
  d[i] = evaluate_dot(models[i], in);
}

/// Element i draws by its position, as BulkConversion does.
__global__ void convert_elements(BulkPlan plan, uint64_t seed, const uint32_t* sources, uint32_t* results,
                                 uint8_t* flags) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const BulkResult r =
      convert_bulk(plan, sources[i], random_word(seed, static_cast<uint64_t>(i), plan.rule.random_bits));
  results[i] = r.encoding;
  flags[i] = r.flags;
}

}  // namespace mmafuzz
