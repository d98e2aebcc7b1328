#include <span>

#include "search/feedback.h"

/// evaluate_dot, compiled so that it calls __sanitizer_cov_trace_pc in each basic block (search/instrumented_dot.cc).
extern "C" uint64_t mmafuzz_instrumented_dot(const void* model, const void* operands);

namespace {

constexpr size_t map_size = 1 << 13;

/// Edges of the control flow that one case took on this thread; an edge is a hashed pair of basic blocks. No
/// constructor and no destructor: the sanitizers' start-up and exit code in the instrumented file reports blocks, too,
/// before a constructor would run and after a destructor has.
struct EdgeMap {
  uint8_t taken[map_size];
  uint32_t touched[map_size];
  uint32_t touched_count;
  uintptr_t previous;
};
constinit thread_local EdgeMap edges = {};

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const uintptr_t block = reinterpret_cast<uintptr_t>(__builtin_return_address(0)) * 0x9e3779b97f4a7c15u;
  const uint32_t edge = static_cast<uint32_t>((block ^ (edges.previous >> 1)) >> 40) & (map_size - 1);
  edges.previous = block;
  if (edges.taken[edge] == 0) edges.touched[edges.touched_count++] = edge;
  if (edges.taken[edge] < 255) ++edges.taken[edge];
}

namespace mmafuzz {
namespace {

/// libFuzzer's classes of a counter: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more.
int counter_class(uint8_t n) { return n >= 128 ? 7 : n >= 32 ? 6 : n >= 16 ? 5 : n >= 8 ? 4 : n >= 4 ? 3 : n - 1; }

class CodeFeedback final : public Feedback {
 public:
  CodeFeedback(const Op& op, const DotModel& model) : op_(op), model_(model) {}
  int features() const override { return static_cast<int>(8 * map_size); }
  void observe(const Batch& batch, FeatureCounts& counts) const override {
    DotCase dot(op_);
    for (size_t i = 0; i < batch.size(); ++i) {
      counts.start_case(i);
      edges.previous = 0;
      mmafuzz_instrumented_dot(&model_, &dot.load(batch, i));
      for (const uint32_t edge : std::span(edges.touched, edges.touched_count)) {
        counts.hit(static_cast<int>(8 * edge) + counter_class(edges.taken[edge]));
        edges.taken[edge] = 0;
      }
      edges.touched_count = 0;
    }
  }

 private:
  Op op_;
  DotModel model_;
};

}  // namespace

std::unique_ptr<Feedback> make_code_feedback(const Op& op, const DotModel& model) {
  return std::make_unique<CodeFeedback>(op, model);
}

}  // namespace mmafuzz
