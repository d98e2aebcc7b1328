#include <memory>

#include "bench/search/flaw_kinds.h"
#include "search/mutator.h"

namespace mmafuzz {
namespace {

/// The previous case and its result; an empty batch before the first case.
struct Before {
  Batch cases;
  uint64_t result = 0;
};

/// The condition holds(previous case, case, previous result).
template <class Holds>
Condition on_two(const Op& op, Holds holds) {
  auto before = std::make_shared<Before>();
  before->cases = Batch(op);
  return [op, before, holds](const Batch& batch, size_t i, uint64_t result) {
    const bool meets =
        before->cases.size() > 0 && holds(DotView(op, before->cases, 0), DotView(op, batch, i), before->result);
    before->cases.resize(1);
    copy_case(batch, i, before->cases, 0);
    before->result = result;
    return meets;
  };
}

bool is_held(const DotView& before, const DotView& now, int lane) {
  return before.a(lane) == now.a(lane) && before.b(lane) == now.b(lane);
}

bool is_special(const DotView& v, int lane) {
  return decode(v.fa, v.a(lane)).cls >= NumberClass::infinity || decode(v.fb, v.b(lane)).cls >= NumberClass::infinity;
}

bool is_plain(const DotView& v) {
  for (int lane = 0; lane < v.k; ++lane)
    for (const Number& n : {decode(v.fa, v.a(lane)), decode(v.fb, v.b(lane))})
      if (n.cls != NumberClass::finite || n.subnormal) return false;
  return true;
}

}  // namespace

const std::vector<FlawKind> kinds_with_memory = {
    {"after three infinities", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       auto in_a_row = std::make_shared<int>(0);
       return [op = d.op, in_a_row](const Batch& batch, size_t i, uint64_t) {
         const bool full = *in_a_row >= 3;
         const Number c = decode(op.c.fields(), batch.inputs()[2].get(i, 0));
         *in_a_row = c.cls == NumberClass::infinity ? *in_a_row + 1 : 0;
         return full;
       };
     }},
    {"a factor held, the other's sign turned", OpKind::dot,
     [](FlawDraw& d) {
       return on_two(d.op, [lane = d.lane()](const DotView& before, const DotView& now, uint64_t) {
         return before.a(lane) == now.a(lane) &&
                (before.b(lane) ^ now.b(lane)) == now.fb.in_container(now.fb.sign_bit());
       });
     }},
    {"two lanes held, c not", OpKind::dot,
     [](FlawDraw& d) {
       const int i = d.lane(), j = (i + 1) % d.op.k;
       return on_two(d.op, [i, j](const DotView& before, const DotView& now, uint64_t) {
         return is_held(before, now, i) && is_held(before, now, j) && before.c() != now.c();
       });
     }},
    {"the result comes back as c", OpKind::dot,
     [](FlawDraw& d) {
       return on_two(d.op, [lane = d.lane()](const DotView& before, const DotView& now, uint64_t result) {
         return now.c() == result && now.c() != before.c() && now.is_visible(lane);
       });
     }},
    {"two lanes change places", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (d.op.k < 2) return {};
       const int i = d.lane(), j = (i + 1) % d.op.k;
       return on_two(d.op, [i, j](const DotView& before, const DotView& now, uint64_t) {
         return !is_held(before, now, i) && before.a(i) == now.a(j) && before.a(j) == now.a(i) &&
                before.b(i) == now.b(j) && before.b(j) == now.b(i);
       });
     }},
    {"one bit turned", OpKind::dot,
     [](FlawDraw& d) {
       const int lane = d.lane(), bit = static_cast<int>(d.rng.below(static_cast<uint32_t>(d.op.a.fields().width)));
       return on_two(d.op, [lane, bit](const DotView& before, const DotView& now, uint64_t) {
         return (before.a(lane) ^ now.a(lane)) == uint64_t{1} << bit && before.b(lane) == now.b(lane);
       });
     }},
    {"a lane leaves infinity", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (!d.op.a.fields().has_nan() && !d.op.b.fields().has_nan()) return {};
       return on_two(d.op, [lane = d.lane()](const DotView& before, const DotView& now, uint64_t) {
         for (int other = 0; other < now.k; ++other)
           if (is_special(now, other)) return false;
         return is_special(before, lane) && now.is_visible(lane);
       });
     }},
    {"after plain cases", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       auto in_a_row = std::make_shared<int>(0);
       return [op = d.op, in_a_row, long_enough = d.rng.between(50, 800)](const Batch& batch, size_t i, uint64_t) {
         *in_a_row = is_plain(DotView(op, batch, i)) ? *in_a_row + 1 : 0;
         return *in_a_row == long_enough;
       };
     }},
};

}  // namespace mmafuzz
