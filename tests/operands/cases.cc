// Prints a digest of what every generator of cases draws: structured, mutated, crossed, random. Compilers must agree on
// every line.
#include <cstdio>

#include "core/op.h"
#include "search/mutator.h"
#include "search/random_generators.h"
#include "search/structured_generator.h"

using namespace mmafuzz;

namespace {

uint64_t digest(const Batch& batch) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const Column& column : batch.inputs())
    for (size_t i = 0; i < column.cases() * column.stride(); ++i) hash = (hash ^ column.data()[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace

int main() {
  for (const char* text : {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=16", "dot a=tf32 b=tf32 c=fp32 d=fp32 k=8",
                           "dot a=e4m3 b=e5m2 c=fp16 d=fp16 k=32", "dot a=fp64 b=fp64 c=fp64 d=fp64 k=4",
                           "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16", "scalar fma format=fp32",
                           "scalar div format=fp16", "scalar mul format=fp64", "convert from=fp32 to=e4m3",
                           "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=4 n=4 k=8"}) {
    const Result<Op> op = parse_op(text);
    if (!op) return 2;
    Batch batch;
    constexpr size_t cases = 10000;
    StructuredGenerator(*op, 7).fill(0, cases, batch);
    const uint64_t structured = digest(batch);
    const Mutator mutator(*op, CornerHints{});
    for (size_t i = 0; i < cases; ++i) {
      CounterRng rng(3, i);
      mutator.mutate(batch, i, rng);
      if (i % 5 == 1) mutator.cross(batch, i, batch, i - 1, rng);
    }
    const uint64_t mutated = digest(batch);
    uint64_t random = 0;
    for (const RandomKind kind : random_kinds) {
      if (kind == RandomKind::normal) continue;  // by the host's logarithm and cosine
      RandomGenerator(*op, kind, 5).fill(0, 2000, batch);
      random = random * 31 + digest(batch);
    }
    std::printf("%s: %016llx %016llx %016llx\n", text, static_cast<unsigned long long>(structured),
                static_cast<unsigned long long>(mutated), static_cast<unsigned long long>(random));
  }
  return 0;
}
