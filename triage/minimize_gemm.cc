// The normal form of a divergence of matrix products.
#include <algorithm>
#include <numeric>

#include "arithmetic/corner_encodings.h"
#include "triage/minimize.h"

namespace mmafuzz {
namespace {

/// Indices of one dimension of the matrices that are kept, increasing.
using Kept = std::vector<int>;

/// The case with the kept rows of a, columns of b and indices of the summation only.
Batch part_of(const Batch& single, const Kept& rows, const Kept& columns, const Kept& inner) {
  Op op = single.op();
  const int n = op.n, k = op.k;
  op.m = static_cast<int>(rows.size());
  op.n = static_cast<int>(columns.size());
  op.k = static_cast<int>(inner.size());
  Batch part(op, 1);
  const auto copy = [&](size_t matrix, const Kept& kept_rows, const Kept& kept_columns, int stride) {
    int index = 0;
    for (const int i : kept_rows)
      for (const int j : kept_columns)
        part.inputs()[matrix].set(0, index++, single.inputs()[matrix].get(0, i * stride + j));
  };
  copy(0, rows, inner, k);
  copy(1, inner, columns, n);
  copy(2, rows, columns, n);
  return part;
}

/// The case with the longest significands: every finite nonzero number of a and b becomes the largest in magnitude with
/// its sign and with the maximum exponent in its matrix. Then fewer products can fill an accumulator.
Batch filled(const Batch& single) {
  Batch full = single;
  for (size_t column = 0; column < 2; ++column) {
    const FormatFields& f = (column == 0 ? single.op().a : single.op().b).fields();
    Column& values = full.inputs()[column];
    int greatest = f.emin();
    const auto number = [&](int e) { return decode(f, values.get(0, e)); };
    for (int e = 0; e < values.count(); ++e)
      if (number(e).cls == NumberClass::finite) greatest = std::max(greatest, leading_exponent(f, values.get(0, e)));
    for (int e = 0; e < values.count(); ++e)
      if (number(e).cls == NumberClass::finite)
        values.set(0, e, encode_near(f, number(e).negative, greatest, f.fraction_mask()));
  }
  return full;
}

Kept all_below(int count) {
  Kept list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

}  // namespace

Batch minimize_gemm(const std::string& property, const std::vector<std::string>& units, const Batch& single,
                    ValueClass cls, const std::string& cause, const Registry& registry) {
  const auto judge_on = [&](const Op& op) { return Judge::bind(property, units, op, registry); };
  const auto still_fails = [&](const Batch& candidate) {
    const Result<Judge> judge = judge_on(candidate.op());
    if (!judge) return false;
    const Verdict verdict = judge->judge(candidate)[0];
    if (!verdict.fails || verdict.cls != cls) return false;
    return Causes(*judge, registry).find(candidate, {verdict})[0] == cause;
  };
  const auto drop_from = [&](Batch& from, int dimension) {
    const Op& op = from.op();
    const int count = dimension == 0 ? op.m : dimension == 1 ? op.n : op.k;
    for (int dropped = count / 2; dropped >= 1; dropped /= 2)
      for (int first = 0; first < count; first += dropped) {
        Kept kept[3] = {all_below(op.m), all_below(op.n), all_below(op.k)};
        Kept& list = kept[dimension];
        list.erase(list.begin() + first, list.begin() + std::min(first + dropped, count));
        if (list.empty()) continue;
        const Batch smaller = part_of(from, kept[0], kept[1], kept[2]);
        for (const Batch& candidate : {smaller, filled(smaller)}) {
          if (!still_fails(candidate)) continue;
          from = candidate;
          return true;
        }
      }
    return false;
  };
  // One dimension after the other, halves first, until nothing can be taken away.
  const auto shrunk = [&](Batch from) {
    for (bool changed = true; changed;) {
      changed = false;
      for (int dimension = 0; dimension < 3; ++dimension)
        while (drop_from(from, dimension)) changed = true;
    }
    return from;
  };

  Batch witness = single;
  while (true) {  // the normal form of the elements makes zeros, whose rows and products can then be dropped
    witness = shrunk(std::move(witness));
    Result<Judge> judge = judge_on(witness.op());
    if (!judge) return witness;
    Causes causes(*judge, registry);
    SmallCases small_cases;
    witness = Minimizer(*judge, causes, small_cases).minimize(witness, cls, cause);
    Batch smaller = shrunk(witness);
    if (smaller.op() == witness.op()) return witness;
    witness = std::move(smaller);
  }
}

}  // namespace mmafuzz
