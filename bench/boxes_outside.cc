#include "bench/boxes_outside.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "arithmetic/evaluate_dot.h"
#include "core/function_unit.h"
#include "core/host_number.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

uint64_t as_fp32(double x) {
  const float f = static_cast<float>(x);
  return std::isnan(f) ? 0x7fffffff : std::bit_cast<uint32_t>(f);
}

struct Products {
  std::vector<double> p;
  double c;
};

Products products_of(const DotModel& m, const DotOperands& in) {
  Products all{{}, to_double(m.c, in.c)};
  for (int i = 0; i < in.k; ++i) all.p.push_back(to_double(m.a, in.a[i]) * to_double(m.b, in.b[i]));
  return all;
}

uint64_t mixed(uint64_t x) { return CounterRng(x, 0).next(); }

/// A copy of operands that a flaw can change.
struct OperandCopy {
  explicit OperandCopy(const DotOperands& in) : a(in.a, in.a + in.k), b(in.b, in.b + in.k), operands(in) {
    operands.a = a.data();
    operands.b = b.data();
  }
  std::vector<uint64_t> a, b;
  DotOperands operands;
};

using Kept = std::atomic<uint64_t>;

class Boxes {
 public:
  Boxes(const char* row, std::vector<BoxOutside>& all) : row_(*find_model_row(row)), all_(all) {}

  /// A unit whose result is answer(row's model, operands, a number that the unit keeps, at first 0).
  template <class Answer>
  void add(const char* name, const char* flaw, Answer answer) {
    all_.push_back({name, flaw, row_.op, [&m = row_.model, answer, name] {
                      auto kept = std::make_shared<Kept>(0);
                      return named(
                          make_dot_unit([&m, answer, kept](const DotOperands& in) { return answer(m, in, *kept); }),
                          name);
                    }});
  }
  /// A unit whose result is change(row's model, operands, the row's result).
  template <class Change>
  void changed(const char* name, const char* flaw, Change change) {
    add(name, flaw,
        [change](const DotModel& m, const DotOperands& in, Kept&) { return change(m, in, evaluate_dot(m, in)); });
  }
  /// The row on operands that change(row's model, a copy of the operands) has changed.
  template <class Change>
  void misread(const char* name, const char* flaw, Change change) {
    add(name, flaw, [change](const DotModel& m, const DotOperands& in, Kept&) {
      OperandCopy copy(in);
      change(m, copy);
      return evaluate_dot(m, copy.operands);
    });
  }
  /// sum(exact products and c), in host arithmetic, rounded to fp32.
  template <class Sum>
  void summed(const char* name, const char* flaw, Sum sum) {
    add(name, flaw,
        [sum](const DotModel& m, const DotOperands& in, Kept&) { return as_fp32(sum(products_of(m, in))); });
  }

 private:
  const ModelRow& row_;
  std::vector<BoxOutside>& all_;
};

void add_random_and_stateful(Boxes& hopper) {
  hopper.add("random last bit", "the last bit of one answer in four is drawn",
             [](const DotModel& m, const DotOperands& in, Kept& count) {
               const uint64_t draw = mixed(count++);
               return evaluate_dot(m, in) ^ (draw % 4 == 0 ? 1 : 0);
             });
  hopper.add("one in a thousand", "every 997th answer has a flipped bit",
             [](const DotModel& m, const DotOperands& in, Kept& count) {
               return evaluate_dot(m, in) ^ (++count % 997 == 0 ? 4 : 0);
             });
  hopper.add("remembers", "c of the case before is added where c is zero",
             [](const DotModel& m, const DotOperands& in, Kept& last) {
               DotOperands changed = in;
               const uint64_t before = last.exchange(in.c);
               if (in.c == 0) changed.c = before;
               return evaluate_dot(m, changed);
             });
  hopper.changed("stochastic rounding", "rounded by bits that a hash of the operands gives",
                 [](const DotModel& m, const DotOperands& in, uint64_t) {
                   DotModel up = m;
                   uint64_t hash = in.c;
                   for (int i = 0; i < in.k; ++i) hash = mixed(hash ^ in.a[i] ^ (in.b[i] << 16));
                   up.output_rounding = hash & 1 ? Rounding::up : Rounding::down;
                   return evaluate_dot(up, in);
                 });
}

uint64_t away_from_zero(const DotModel& m, const DotOperands& in, uint64_t result) {
  DotModel away = m;
  away.output_rounding = decode(m.d, result).negative ? Rounding::down : Rounding::up;
  return evaluate_dot(away, in);
}

void add_datapath_flaws(Boxes& hopper, Boxes& ampere) {
  hopper.changed("sticky second bit", "the second last bit is one wherever the sum is not exact",
                 [](const DotModel& m, const DotOperands& in, uint64_t result) {
                   return away_from_zero(m, in, result) == result ? result : result | 2;
                 });
  hopper.misread("lane 7", "one bit fewer is kept of the factors of lane 7",
                 [](const DotModel&, OperandCopy& copy) { copy.a[7] &= ~uint64_t{1}; });
  hopper.misread("lane 3 flushes", "subnormal factors of lane 3 are zeros", [](const DotModel& m, OperandCopy& copy) {
    if (decode(m.a, copy.a[3]).subnormal) copy.a[3] = 0;
  });
  hopper.misread("NaN in lane 9", "a NaN in lane 9 is not seen", [](const DotModel& m, OperandCopy& copy) {
    if (decode(m.a, copy.a[9]).cls == NumberClass::nan) copy.a[9] = 0;
  });
  hopper.changed("negative zero", "a result of -0 or +0 has the sign of c",
                 [](const DotModel& m, const DotOperands& in, uint64_t result) {
                   return is_zero(m.d, result) ? (in.c & 0x80000000) : result;
                 });
  hopper.changed("saturating adder", "sums of 2^20 and more are 2^20",
                 [](const DotModel& m, const DotOperands&, uint64_t result) {
                   const uint64_t magnitude = result & 0x7fffffff, greatest = 0x49800000;
                   return magnitude > greatest && magnitude < 0x7f800000 ? (result & 0x80000000) | greatest : result;
                 });
  hopper.changed("away from zero", "every inexact result is rounded away from zero", away_from_zero);
  ampere.changed("blocks by c", "where c is zero all products make one block",
                 [](const DotModel& m, const DotOperands& in, uint64_t result) {
                   DotModel one_block = m;
                   one_block.block = m.k;
                   return is_zero(m.c, in.c) ? evaluate_dot(one_block, in) : result;
                 });
  ampere.changed("unequal blocks", "blocks of six and ten products",
                 [](const DotModel& m, const DotOperands& in, uint64_t) {
                   DotModel first = m, second = m;
                   first.k = first.block = 6;
                   second.k = second.block = 10;
                   DotOperands part = in;
                   part.k = 6;
                   part.c = evaluate_dot(first, part);
                   part.a += 6;
                   part.b += 6;
                   part.k = 10;
                   return evaluate_dot(second, part);
                 });
  ampere.misread("narrow multiplier", "products of two odd significands lose their last bit",
                 [](const DotModel&, OperandCopy& copy) {
                   for (size_t i = 0; i < copy.a.size(); ++i)
                     if (copy.a[i] & copy.b[i] & 1) copy.b[i] ^= 1;
                 });
  ampere.changed("bits by size", "24 bits are kept, 23 where the greatest exponent is negative",
                 [](const DotModel& m, const DotOperands& in, uint64_t result) {
                   DotModel fewer = m;
                   fewer.fraction_bits = 23;
                   return decode(m.d, result).scale_exponent < 0 ? evaluate_dot(fewer, in) : result;
                 });
}

void add_other_sums(Boxes& hopper) {
  hopper.summed("Kahan", "compensated summation in fp32", [](const Products& all) {
    float sum = static_cast<float>(all.c), rest = 0;
    for (const double p : all.p) {
      const float y = static_cast<float>(p) - rest, t = sum + y;
      rest = (t - sum) - y;
      sum = t;
    }
    return double{sum};
  });
  hopper.summed("sorted", "by magnitude, the greatest first, each addition rounded to fp32", [](Products all) {
    std::stable_sort(all.p.begin(), all.p.end(), [](double x, double y) { return std::abs(x) > std::abs(y); });
    float sum = static_cast<float>(all.c);
    for (const double p : all.p) sum += static_cast<float>(p);
    return double{sum};
  });
  hopper.summed("fp64 and fp32", "summed in fp64, in order, rounded to fp32 once", [](const Products& all) {
    double sum = all.c;
    for (const double p : all.p) sum += p;
    return sum;
  });
  hopper.summed("positive first", "positive and negative products apart, then their difference",
                [](const Products& all) {
                  float positive = 0, negative = 0;
                  for (const double p : all.p) (p > 0 ? positive : negative) += static_cast<float>(p);
                  return double{(positive + negative) + static_cast<float>(all.c)};
                });
  hopper.summed("table", "products from a table of three significant bits", [](const Products& all) {
    float sum = static_cast<float>(all.c);
    for (const double p : all.p) {
      int e = 0;
      const double m = std::frexp(p, &e);
      sum += static_cast<float>(std::isfinite(p) ? std::ldexp(std::nearbyint(m * 8) / 8, e) : p);
    }
    return double{sum};
  });
}

}  // namespace

std::vector<BoxOutside> boxes_outside() {
  std::vector<BoxOutside> all;
  Boxes hopper("hopper/mma.m16n8k16.f32.f16.f16.f32", all), ampere("ampere/mma.m16n8k16.f32.f16.f16.f32", all);
  add_random_and_stateful(hopper);
  add_datapath_flaws(hopper, ampere);
  add_other_sums(hopper);
  return all;
}

}  // namespace mmafuzz
