// A unit made of a function that evaluates one case: what every CPU-side party that is not vectorized is.
#pragma once

#include "core/dot_case.h"
#include "core/unit.h"

namespace mmafuzz {

/// What every scalar operation or conversion promises that rounds an exact result once.
inline std::vector<Claim> claims_of_correct_rounding() {
  return claims_of({"faithful", "idempotent", "monotone_in_operand", "nearest", "not_above_up", "not_below_down",
                    "round_trip", "sign_symmetry"});
}

inline void prepare(const Batch& batch, Outcomes& outcomes) {
  const FieldShape result = batch.op().result();
  outcomes.results = Column(result.format, result.count);
  outcomes.results.resize(batch.size());
  outcomes.flags.clear();
  outcomes.answered.clear();
  outcomes.failed.clear();
  outcomes.how_failed.clear();
}

/// Writes the result of each dot of a batch. Evaluate: uint64_t(const DotOperands&).
template <class Evaluate>
void run_dots(const Batch& batch, Outcomes& outcomes, const Evaluate& evaluate) {
  DotCase one(batch.op());
  for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, evaluate(one.load(batch, i)));
}

/// Evaluate: uint64_t(const DotOperands&).
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

/// In vectors where op and host allow it, one by one elsewhere. Simd: supports(op), and run(batch, results), which says
/// whether it did.
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

/// Evaluate: {encoding, flags}-like(const uint64_t* operands) for scalar operations and conversions. ReportsFlags is
/// false for hardware whose status flags do not follow the operation.
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
