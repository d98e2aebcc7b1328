// Units made of a function that evaluates one case.
#pragma once

#include "core/dot_case.h"
#include "core/unit.h"

namespace mmafuzz {

/// The claims of a scalar operation or conversion that rounds the exact result once.
inline std::vector<Claim> claims_of_correct_rounding() {
  return claims_of({"faithful", "idempotent", "monotone_in_operand", "nearest", "not_above_up", "not_below_down",
                    "round_trip", "sign_symmetry"});
}

/// The claims of a dot whose every step is a sum or a product, rounded. (Not split_k: one more step may mean one more
/// rounding.)
inline std::vector<Claim> claims_of_rounded_steps() {
  return claims_of({"monotone_in_addend", "monotone_in_c", "power_of_two_scaling", "product_value",
                    "product_value_and_exponent", "sign_symmetry", "swap_operands", "zero_padding"});
}

/// Sizes the results for the batch, and clears everything else in `outcomes`.
inline void prepare(const Batch& batch, Outcomes& outcomes) {
  const FieldShape result = batch.op().result();
  outcomes = Outcomes{};
  outcomes.results = Column(result.format, result.count);
  outcomes.results.resize(batch.size());
}

/// Writes the result of each dot of a batch. Evaluate: uint64_t(const DotOperands&).
template <class Evaluate>
void run_dots(const Batch& batch, Outcomes& outcomes, const Evaluate& evaluate) {
  DotCase one(batch.op());
  for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, evaluate(one.load(batch, i)));
}

/// A unit of dots. Evaluate: uint64_t(const DotOperands&).
template <class Evaluate>
class DotFunctionUnit final : public Unit {
 public:
  explicit DotFunctionUnit(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    run_dots(batch, outcomes, evaluate_);
  }

 private:
  Evaluate evaluate_;
};

/// A unit of dots with vector code for some ops and hosts, and code for one dot otherwise. Simd has supports(op), and
/// run(batch, results), which returns false where it did nothing. OneByOne: uint64_t(const DotOperands&).
template <class OneByOne, class Simd>
class VectorDotUnit final : public Unit {
 public:
  template <class... More>
  explicit VectorDotUnit(const Op& op, const More&... more)
      : one_by_one_(op, more...), vectorized_(Simd::supports(op)), simd_(op, more...) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (!vectorized_ || !simd_.run(batch, outcomes.results)) run_dots(batch, outcomes, one_by_one_);
  }

 private:
  OneByOne one_by_one_;
  bool vectorized_;
  Simd simd_;
};

/// A unit of scalar operations and conversions. Evaluate takes const uint64_t* operands, at most 3, and returns a
/// struct with encoding and flags. ReportsFlags is false for instructions that do not raise all flags which IEEE 754
/// gives to the operation.
template <class Evaluate, bool ReportsFlags>
class ScalarFunctionUnit final : public Unit {
 public:
  explicit ScalarFunctionUnit(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (ReportsFlags) outcomes.flags.resize(batch.size());
    uint64_t operands[3] = {};
    for (size_t i = 0; i < batch.size(); ++i) {
      batch.inputs()[0].unpack(i, operands);
      const auto r = evaluate_(operands);
      outcomes.results.set(i, 0, r.encoding);
      if (ReportsFlags) outcomes.flags[i] = r.flags;
    }
  }

 private:
  Evaluate evaluate_;
};

template <class Evaluate>
std::unique_ptr<Unit> make_dot_unit(Evaluate evaluate) {
  return std::make_unique<DotFunctionUnit<Evaluate>>(std::move(evaluate));
}

template <bool ReportsFlags = true, class Evaluate>
std::unique_ptr<Unit> make_scalar_unit(Evaluate evaluate) {
  return std::make_unique<ScalarFunctionUnit<Evaluate, ReportsFlags>>(std::move(evaluate));
}

inline std::unique_ptr<Unit> named(std::unique_ptr<Unit> unit, std::string name, std::vector<Claim> claims = {}) {
  unit->describe(std::move(name), std::move(claims));
  return unit;
}

}  // namespace mmafuzz
