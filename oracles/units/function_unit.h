// A unit made of a function that evaluates one case: what every CPU-side party that is not vectorized is.
#pragma once

#include "core/unit.h"

namespace mmafuzz {

/// One dot case unpacked to 64-bit encodings, reusable from case to case.
class DotCase {
 public:
  explicit DotCase(const Op& op)
      : a_(size_t(op.k)), b_(size_t(op.k)), scale_a_(size_t(op.scales())), scale_b_(size_t(op.scales())) {}

  const DotOperands& load(const Batch& batch, size_t index) {
    batch.a().unpack(index, a_.data());
    batch.b().unpack(index, b_.data());
    operands_.a = a_.data();
    operands_.b = b_.data();
    operands_.c = batch.c().get(index);
    operands_.k = batch.op().k;
    if (batch.op().has_scales()) {
      batch.scale_a().unpack(index, scale_a_.data());
      batch.scale_b().unpack(index, scale_b_.data());
      operands_.scale_a = scale_a_.data();
      operands_.scale_b = scale_b_.data();
    }
    return operands_;
  }

 private:
  std::vector<uint64_t> a_, b_, scale_a_, scale_b_;
  DotOperands operands_;
};

inline void prepare(const Batch& batch, Outcomes& outcomes) {
  const FieldShape result = batch.op().result();
  outcomes.results = Column(result.format, result.count);
  outcomes.results.resize(batch.size());
  outcomes.flags.clear();
  outcomes.answered.clear();
}

/// Evaluate: uint64_t(const DotOperands&).
template <class Evaluate>
class DotFunctionUnit final : public Unit {
 public:
  explicit DotFunctionUnit(Evaluate evaluate) : evaluate_(std::move(evaluate)) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    DotCase one(batch.op());
    for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, evaluate_(one.load(batch, i)));
  }

 private:
  Evaluate evaluate_;
};

/// Evaluate: {encoding, flags}-like(const uint64_t* operands) for scalar operations and conversions. ReportsFlags is false
/// for hardware whose status flags do not follow the operation.
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
