#include "bench/search/catalogue.h"

#include <algorithm>
#include <memory>

#include "bench/search/flaw_kinds.h"
#include "core/fnv1a.h"
#include "oracles/models/model_rows.h"
#include "search/aligned_term.h"
#include "search/mutator.h"

namespace mmafuzz {
namespace {

/// The original, with the last bit of the result inverted where the condition holds.
class FlawedUnit final : public Unit {
 public:
  FlawedUnit(std::unique_ptr<Unit> original, Condition condition)
      : original_(std::move(original)), condition_(std::move(condition)) {}
  void run(const Batch& batch, Outcomes& outcomes) const override {
    original_->run(batch, outcomes);
    for (size_t i = 0; i < batch.size(); ++i)
      if (const uint64_t right = outcomes.results.get(i, 0); condition_(batch, i, right))
        outcomes.results.set(i, 0, right ^ batch.op().d.fields().in_container(1));
  }

 private:
  std::unique_ptr<Unit> original_;
  Condition condition_;
};

Condition alignments(FlawDraw& d, int count) {
  if (d.op.k < count) return {};
  std::vector<std::pair<int, int>> wanted;
  const int most = std::min(d.kept_bits - 2, 1 + d.exponents());
  for (int i = 0; i < count; ++i) {
    const int lane = i * d.op.k / count + d.rng.between(0, d.op.k / count - 1);
    wanted.push_back({lane, d.rng.between(1, most)});
  }
  return on_dot(d, [wanted](const DotView& v) {
    const int top = v.greatest();
    return top != DotView::none && std::all_of(wanted.begin(), wanted.end(), [&](const auto& w) {
             return v.exponent(w.first) != DotView::none && top - v.exponent(w.first) == w.second;
           });
  });
}

constexpr bool with_c = true, without_c = false, in_one_lane = true, in_any_lane = false;

Condition specials(FlawDraw& d, bool c_too) {
  struct Wanted {
    bool in_b;
    int lane, kind;
  };
  const auto is = [](const FormatFields& f, uint64_t encoding, int kind) {
    const Number n = decode(f, encoding);
    switch (kind) {
      case 0: return n.cls == NumberClass::nan || (!f.has_nan() && encoding == f.encode_greatest(true));
      case 1: return n.cls == NumberClass::infinity || (!f.has_infinity() && encoding == f.encode_greatest(false));
      case 2: return n.cls == NumberClass::zero && n.negative;
      default: return n.cls == NumberClass::finite && n.subnormal;
    }
  };
  std::vector<Wanted> wanted;
  for (int i = 0; i < 2; ++i) {
    const bool in_b = d.rng.one_in(2);
    const int lane = d.lane();
    int kind = d.rng.between(0, 3);
    const FormatFields& f = in_b ? d.op.b.fields() : d.op.a.fields();
    if (kind == 2 && !decode(f, f.encode_zero(true)).negative) kind = 3;  // the format has no -0
    wanted.push_back({in_b, lane, kind});
  }
  if (wanted[0].lane == wanted[1].lane && wanted[0].in_b == wanted[1].in_b) wanted[1].in_b = !wanted[1].in_b;
  const int c_kind = c_too ? d.rng.between(0, 3) : -1;
  return on_dot(d, [wanted, c_kind, is](const DotView& v) {
    if (c_kind >= 0 && !is(v.fc, v.c(), c_kind)) return false;
    return std::all_of(wanted.begin(), wanted.end(), [&](const Wanted& w) {
      return w.in_b ? is(v.fb, v.b(w.lane), w.kind) : is(v.fa, v.a(w.lane), w.kind);
    });
  });
}

Condition fraction_pair(FlawDraw& d, bool one_lane) {
  const FormatFields &fa = d.op.a.fields(), &fb = d.op.b.fields();
  if (fa.width + fb.width <= 16 || fa.fraction_bits + fb.fraction_bits > 20) return {};
  const uint64_t x = d.rng.next() & fa.fraction_mask();
  const uint64_t y = d.rng.next() & fb.fraction_mask();
  const int lane = one_lane ? d.lane() : -1;
  return on_dot(d, [x, y, lane](const DotView& v) {
    for (int i = lane < 0 ? 0 : lane; i < (lane < 0 ? v.k : lane + 1); ++i)
      if (DotView::fraction_of(v.fa, v.a(i)) == x && DotView::fraction_of(v.fb, v.b(i)) == y && v.is_visible(i))
        return true;
    return false;
  });
}

const FlawKind kinds[] = {
    {"two alignments", OpKind::dot, [](FlawDraw& d) { return alignments(d, 2); }},
    {"three alignments", OpKind::dot, [](FlawDraw& d) { return alignments(d, 3); }},
    {"four alignments", OpKind::dot, [](FlawDraw& d) { return alignments(d, 4); }},
    {"exact sum", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       const int bit = d.rng.between(d.kept_bits - 3, d.kept_bits + 3);
       const int step = d.rng.between(-1, 1);
       const bool negative = d.rng.one_in(2);
       const int64_t target = ((int64_t{1} << bit) + step) * (negative ? -1 : 1);
       return on_dot(d, [target, kept = d.kept_bits, block = d.block](const DotView& v) {
         int top = v.exponent(v.k);
         for (int lane = 0; lane < block; ++lane) top = std::max(top, v.exponent(lane));
         if (top == DotView::none) return false;
         int64_t sum = 0;
         for (int lane = 0; lane < block; ++lane) {
           const Exact p = v.product(lane);
           if (!is_number(p.cls)) return false;
           if (p.cls == NumberClass::finite) sum += aligned_term(p, top - kept);
         }
         const Exact c = to_exact(decode(v.fc, v.c()));
         if (!is_number(c.cls)) return false;
         if (c.cls == NumberClass::finite) sum += aligned_term(c, top - kept);
         return sum == target;
       });
     }},
    {"fractions", OpKind::dot, [](FlawDraw& d) { return fraction_pair(d, in_any_lane); }},
    {"fractions in one lane", OpKind::dot, [](FlawDraw& d) { return fraction_pair(d, in_one_lane); }},
    {"operands in one lane", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       const FormatFields &fa = d.op.a.fields(), &fb = d.op.b.fields();
       if (fa.width + fb.width > 16) return {};
       uint64_t x = 0, y = 0;
       while (decode(fa, x).cls != NumberClass::finite) x = d.rng.next() & fa.container_mask();
       while (decode(fb, y).cls != NumberClass::finite) y = d.rng.next() & fb.container_mask();
       return on_dot(d, [x, y, lane = d.lane()](const DotView& v) {
         return v.a(lane) == x && v.b(lane) == y && v.is_visible(lane);
       });
     }},
    {"exponents in one lane", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       const FormatFields &fa = d.op.a.fields(), &fb = d.op.b.fields();
       if (fa.exponent_bits < 4 || fb.exponent_bits < 4 || fa.exponent_bits > 8) return {};
       const int e = d.rng.between(-4, 4);
       const int low = std::max(fa.emin(), e - fb.emax()), high = std::min(fa.emax(), e - fb.emin());
       const int x = d.rng.between(low, high);
       return on_dot(d, [x, y = e - x, lane = d.lane()](const DotView& v) {
         return DotView::exponent_of(v.fa, v.a(lane)) == x && DotView::exponent_of(v.fb, v.b(lane)) == y &&
                v.is_visible(lane);
       });
     }},
    {"two specials", OpKind::dot, [](FlawDraw& d) { return specials(d, without_c); }},
    {"two specials and c", OpKind::dot, [](FlawDraw& d) { return specials(d, with_c); }},
    {"one bit of a NaN", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       const FormatFields& fc = d.op.c.fields();
       if (!fc.has_infinity()) return {};
       const uint64_t payload = uint64_t{1} << d.rng.below(fc.fraction_bits);
       const bool negative = d.rng.one_in(2);
       const uint64_t c = fc.encode_infinity(negative) | fc.in_container(payload);
       return on_dot(d, [c](const DotView& v) { return v.c() == c; });
     }},
    {"scales", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (!d.op.has_scales()) return {};
       const auto near_one = [&](const FormatFields& f) {
         return ((static_cast<uint64_t>(f.bias) << f.fraction_bits) + d.rng.below(16) - 8) & f.container_mask();
       };
       const uint64_t x = near_one(d.op.scale_a.fields());
       const uint64_t y = near_one(d.op.scale_b.fields());
       const int block = d.rng.between(0, d.op.scales() - 1);
       return [x, y, block](const Batch& batch, size_t i, uint64_t) {
         return batch.scale_a().get(i, block) == x && batch.scale_b().get(i, block) == y;
       };
     }},
    {"rising exponents", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (d.exponents() < d.block) return {};
       const bool falling = d.rng.one_in(2);
       return on_dot(d, [block = d.block, falling](const DotView& v) {
         for (int lane = 0; lane < block; ++lane) {
           const int e = v.exponent(lane);
           if (e == DotView::none) return false;
           if (lane > 0 && (falling ? v.exponent(lane - 1) <= e : v.exponent(lane - 1) >= e)) return false;
         }
         return true;
       });
     }},
    {"a set of live lanes", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (d.op.k > 16) return {};
       const uint32_t wanted = 1 + d.rng.below((1u << d.op.k) - 2);
       return on_dot(d, [wanted](const DotView& v) {
         uint32_t live = 0;
         for (int lane = 0; lane < v.k; ++lane)
           if (v.exponent(lane) != DotView::none) live |= 1u << lane;
         return live == wanted;
       });
     }},
    {"two squares", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (!(d.op.a == d.op.b) || d.op.k < 2) return {};
       const int i = d.lane();
       const int j = d.lane_other_than(i);
       return on_dot(d, [i, j](const DotView& v) {
         const uint64_t sign = travelling_sign(v.fa);
         return v.a(i) == v.b(i) && v.a(j) == v.b(j) && (v.a(i) & sign) && (v.a(j) & sign) && v.is_visible(i) &&
                v.is_visible(j);
       });
     }},
    {"products that differ by one", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (d.op.k < 2 || d.op.a.fields().fraction_bits < 3) return {};
       return on_dot(d, [](const DotView& v) {
         std::vector<Exact> live;
         for (int lane = 0; lane < v.k; ++lane) {
           const Exact p = v.product(lane);
           if (!is_number(p.cls)) return false;
           if (p.cls == NumberClass::finite) live.push_back(p);
           if (live.size() > 2) return false;
         }
         if (live.size() != 2 || live[0].negative == live[1].negative || live[0].exponent != live[1].exponent)
           return false;
         const auto x = live[0].significand, y = live[1].significand;
         return (x > y ? x - y : y - x) == 1;
       });
     }},
    {"greatest and next", OpKind::dot,
     [](FlawDraw& d) -> Condition {
       if (d.op.k < 3) return {};
       const int i = d.lane();
       const int j = d.lane_other_than(i);
       const int apart = d.rng.between(1, std::min(d.kept_bits, d.exponents()));
       return on_dot(d, [i, j, apart](const DotView& v) {
         const int first = v.exponent(i), second = v.exponent(j);
         if (first == DotView::none || second == DotView::none || first - second != apart) return false;
         for (int lane = 0; lane <= v.k; ++lane)
           if (lane != i && lane != j && v.exponent(lane) >= second) return false;
         return true;
       });
     }},
    {"one input", OpKind::convert,
     [](FlawDraw& d) -> Condition {
       const FormatFields& f = d.op.a.fields();
       if (f.width > 16) return {};
       return [wanted = d.rng.next() & f.container_mask()](const Batch& batch, size_t i, uint64_t) {
         return batch.inputs()[0].get(i, 0) == wanted;
       };
     }},
    {"one boundary", OpKind::convert,
     [](FlawDraw& d) -> Condition {  // the middle above one number of the target
       const FormatFields &from = d.op.a.fields(), &to = d.op.d.fields();
       if (to.width > 16 || from.fraction_bits <= to.fraction_bits) return {};
       Number n;
       do n = decode(to, d.rng.next() & to.container_mask());
       while (n.cls != NumberClass::finite);
       Exact middle = to_exact(n);
       middle.significand = 2 * middle.significand + 1;
       middle.exponent -= 1;
       const uint64_t wanted = round_exact(from, middle, {}).encoding + static_cast<uint64_t>(d.rng.between(-1, 1));
       return [wanted](const Batch& batch, size_t i, uint64_t) { return batch.inputs()[0].get(i, 0) == wanted; };
     }},
    {"exponents", OpKind::scalar,
     [](FlawDraw& d) -> Condition {
       const FormatFields& f = d.op.a.fields();
       if (d.op.arity() < 2 || f.exponent_bits > 8) return {};
       const int x = d.rng.between(f.emin(), f.emax());
       const int y = d.rng.between(f.emin(), f.emax());
       return [f, x, y](const Batch& batch, size_t i, uint64_t) {
         return DotView::exponent_of(f, batch.inputs()[0].get(i, 0)) == x &&
                DotView::exponent_of(f, batch.inputs()[0].get(i, 1)) == y;
       };
     }},
    {"fractions", OpKind::scalar,
     [](FlawDraw& d) -> Condition {
       const FormatFields& f = d.op.a.fields();
       if (d.op.arity() < 2 || f.fraction_bits > 10) return {};
       const uint64_t x = d.rng.next() & f.fraction_mask();
       const uint64_t y = d.rng.next() & f.fraction_mask();
       return [f, x, y](const Batch& batch, size_t i, uint64_t) {
         return DotView::fraction_of(f, batch.inputs()[0].get(i, 0)) == x &&
                DotView::fraction_of(f, batch.inputs()[0].get(i, 1)) == y;
       };
     }},
};

/// The models on which flaws are drawn: each family of kernels and of formats once.
const char* const flawed_rows[] = {
    "volta/mma.m8n8k4.f32.f16.f16.f32",
    "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
    "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
    "hopper/mma.m16n8k16.f32.f16.f16.f32",
    "hopper/mma.m16n8k16.f16.f16.f16.f16",
    "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32",
    "hopper/wgmma.m64n8k32.f32.e5m2.e4m3.f32",
    "blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.e4m3.e4m3.f32.ue8m0",
    "blackwell/tcgen05.kind::mxf4nvf4.block16.m128n8k64.f32.e2m1.e2m1.f32.ue4m3",
    "cdna1/mfma.32x32x8.f32.f16.f16.f32",
    "cdna3/mfma.32x32x8.f32.f16.f16.f32",
    "cdna3/mfma.16x16x32.f32.e4m3fnuz.e5m2fnuz.f32",
};
const char* const flawed_ops[] = {
    "convert from=fp32 to=fp16 nan=any",
    "convert from=fp32 to=e4m3 nan=any",
    "convert from=fp32 to=cfloat8_1_4_3:7 nan=any",
    "convert from=fp16 to=e4m3 nan=any",
    "convert from=bf16 to=fp32 nan=any",
    "scalar fma format=fp16 nan=any",
    "scalar mul format=fp16 nan=any",
    "scalar add format=bf16 nan=any",
    "scalar fma format=fp32 nan=any",
};

void draw_kinds(const std::string& original, const Op& op, const DotModel* model, uint64_t seed,
                std::vector<Mutant>& flaws) {
  const CornerHints hints = corner_hints(model);
  std::vector<FlawKind> all(std::begin(kinds), std::end(kinds));
  all.insert(all.end(), kinds_with_memory.begin(), kinds_with_memory.end());
  for (const FlawKind& kind : all) {
    if (kind.op != op.kind) continue;
    const std::string name = std::string("flaw:") + kind.name + "@" + original + "#" + std::to_string(seed);
    const auto condition = [kind, op, hints, seed, stream = fnv1a(kind.name + original + to_text(op))] {
      CounterRng rng(seed, stream);
      FlawDraw draw{op, hints.fraction_bits, std::min(hints.block, op.k), rng};
      return kind.draw(draw);
    };
    if (!condition()) continue;
    // Some conditions remember previous cases, so that each unit needs a condition of its own.
    const auto make = [original, condition, op](const Op& bound_op) -> std::unique_ptr<Unit> {
      std::unique_ptr<Unit> right = bind_or_fail(original, bound_op);
      if (!(bound_op == op)) return right;
      return std::make_unique<FlawedUnit>(std::move(right), condition());
    };
    flaws.push_back({name, original, op, make});
  }
}

}  // namespace

std::vector<Mutant> draw_flaws(uint64_t seed) {
  std::vector<Mutant> flaws;
  for (const char* name : flawed_rows) {
    const ModelRow* row = find_model_row(name);
    if (!row) throw BadInput(std::string("no model row '") + name + "'");
    const std::unique_ptr<Unit> unit = bind_or_fail(std::string("model:") + name, row->op);
    draw_kinds(unit->name(), row->op, unit->model(), seed, flaws);
  }
  for (const char* text : flawed_ops) draw_kinds("exact", op_from_text(text), nullptr, seed, flaws);
  return flaws;
}

}  // namespace mmafuzz
