#include "triage/kernel_steps.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "arithmetic/evaluate_dot.h"
#include "core/dot_case.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz {
namespace {

using exact::Mpfr;

enum class Additions { once, in_pairs, in_order };

/// One way to add. What is equal in two of them is no difference.
struct Steps {
  bool rounds_products = false;
  Additions additions = Additions::once;
  bool adds_c_last = false;
  int block = 0;                  ///< products that are added to c at once; 0: all
  const DotModel* cut = nullptr;  ///< of the row that drops bits below its greatest exponent
  bool flushes = false;           ///< subnormal results of a step become zeros
  Rounding rounding = Rounding::nearest_even;
};

std::optional<Steps> steps_of_row(const DotModel& row) {
  Steps s;
  s.block = row.block;
  s.rounding = row.output_rounding;
  s.flushes = flushes(row);
  switch (row.kernel) {
    case Kernel::exact_sum: return s;
    case Kernel::fused_sum: s.cut = &row; return s;
    case Kernel::ieee_tree:
      s.rounds_products = s.adds_c_last = true;
      s.additions = Additions::in_pairs;
      return s;
    case Kernel::fma_chain:
      s.block = 0;
      s.additions = Additions::in_order;
      return s;
    default: return std::nullopt;
  }
}

std::optional<Steps> steps_of(const Unit& unit, const Op& op) {
  if (const DotModel* row = unit.model()) return steps_of_row(*row);
  Steps s;
  s.rounding = op.rounding;
  const std::string& name = unit.name();
  if (unit.role() == Role::exact || unit.role() == Role::referee) return s;
  if (name == "ieee:pairwise") {
    s.rounds_products = s.adds_c_last = true;
    s.additions = Additions::in_pairs;
    return s;
  }
  s.additions = Additions::in_order;
  s.rounds_products = name == "ieee:serial";
  return name == "ieee:serial" || name == "ieee:fma" ? std::optional(s) : std::nullopt;
}

class StepwiseDot {
 public:
  StepwiseDot(const Op& op, const Steps& steps) : op_(op), steps_(steps), bits_(exact::sum_precision_of(op) + 64) {
    rule_.rounding = steps.rounding;
  }

  /// Nothing where these steps do not go together: only exact products that are added at once can be cut.
  std::optional<uint64_t> operator()(const DotOperands& in) const {
    const int block = steps_.block ? steps_.block : in.k;
    const bool can_be_cut =
        !steps_.rounds_products && steps_.additions == Additions::once && block <= max_instruction_k;
    if (steps_.cut && !can_be_cut) return std::nullopt;
    Mpfr sum(bits_);
    exact::set_operand(sum.get(), op_, op_.c, in.c);
    uint64_t result = in.c;
    for (int first = 0; first < in.k; first += block)
      result = step(in, first, std::min(block, in.k - first), sum.get());
    return result;
  }

 private:
  /// The result of a sum becomes its value, too.
  uint64_t rounded(mpfr_ptr x) const {
    uint64_t encoding = exact::round_mpfr(op_.d, x, rule_).encoding;
    const FormatFields& f = op_.d.fields();
    if (steps_.flushes && decode(f, encoding).subnormal) encoding = f.encode_zero((encoding >> (f.width - 1)) & 1);
    exact::set_from_encoding(x, op_.d, encoding);
    return encoding;
  }

  /// By the row whose bits are dropped, with the block and the rounding of these steps.
  uint64_t cut_sum(const DotOperands& in, int first, int count, uint64_t c) const {
    DotModel row = *steps_.cut;
    row.output_rounding = steps_.rounding;
    const int block = steps_.block ? steps_.block : in.k;
    if (row.block != block) row.block = row.k = block;
    DotOperands part = in;
    const size_t at = static_cast<size_t>(first);
    part.a = in.a + at;
    part.b = in.b + at;
    part.c = c;
    part.k = count;
    return evaluate_dot(row, part);
  }

  uint64_t step(const DotOperands& in, int first, int count, mpfr_ptr sum) const {
    if (steps_.cut) {
      const uint64_t c = exact::round_mpfr(op_.c, sum, rule_).encoding;
      const uint64_t part = cut_sum(in, first, count, steps_.adds_c_last ? op_.c.fields().encode_zero(false) : c);
      if (!steps_.adds_c_last) {
        exact::set_from_encoding(sum, op_.d, part);
        return part;
      }
      Mpfr products(bits_);
      exact::set_from_encoding(products.get(), op_.d, part);
      mpfr_add(sum, sum, products.get(), MPFR_RNDN);
      return rounded(sum);
    }
    std::vector<Mpfr> terms;
    for (int i = first; i < first + count; ++i) {
      terms.emplace_back(bits_);
      exact::set_product(terms.back().get(), op_, in, i);
      if (steps_.rounds_products) rounded(terms.back().get());
    }
    switch (steps_.additions) {
      case Additions::once: {
        Mpfr products(bits_);
        mpfr_set_zero(products.get(), 1);
        for (const Mpfr& term : terms) mpfr_add(products.get(), products.get(), term.get(), MPFR_RNDN);
        if (steps_.adds_c_last) rounded(products.get());
        mpfr_add(sum, sum, products.get(), MPFR_RNDN);
        return rounded(sum);
      }
      case Additions::in_pairs: {
        Mpfr products = halves(terms, 0, terms.size());
        mpfr_add(sum, sum, products.get(), MPFR_RNDN);
        return rounded(sum);
      }
      case Additions::in_order: break;
    }
    uint64_t result = 0;
    if (!steps_.adds_c_last) {
      for (const Mpfr& term : terms) {
        mpfr_add(sum, sum, term.get(), MPFR_RNDN);
        result = rounded(sum);
      }
      return result;
    }
    Mpfr products(bits_);
    mpfr_set(products.get(), terms[0].get(), MPFR_RNDN);
    rounded(products.get());
    for (size_t i = 1; i < terms.size(); ++i) {
      mpfr_add(products.get(), products.get(), terms[i].get(), MPFR_RNDN);
      rounded(products.get());
    }
    mpfr_add(sum, sum, products.get(), MPFR_RNDN);
    return rounded(sum);
  }

  Mpfr halves(const std::vector<Mpfr>& terms, size_t first, size_t last) const {
    Mpfr sum(bits_);
    if (last - first == 1) {
      mpfr_set(sum.get(), terms[first].get(), MPFR_RNDN);
      return sum;
    }
    const size_t middle = first + (last - first + 1) / 2;
    const Mpfr left = halves(terms, first, middle), right = halves(terms, middle, last);
    mpfr_add(sum.get(), left.get(), right.get(), MPFR_RNDN);
    rounded(sum.get());
    return sum;
  }

  const Op& op_;
  const Steps steps_;
  const mpfr_prec_t bits_;
  RoundingRule rule_;
};

/// A step in which two ways may differ.
struct Aspect {
  bool differs;
  void (*take)(Steps& to, const Steps& from);
  std::string text;  ///< "c added last against with the products"
};

std::string against(const char* what, const std::string& x, const std::string& y) {
  return std::string(what) + " " + x + " against " + y;
}

std::vector<Aspect> aspects_of(const Steps& x, const Steps& y) {
  const auto additions = [](const Steps& s) {
    return s.additions == Additions::once       ? "once"
           : s.additions == Additions::in_pairs ? "each, in pairs"
                                                : "each, in order";
  };
  const auto exactness = [](const Steps& s) { return s.rounds_products ? "rounded" : "exact"; };
  const auto place = [](const Steps& s) { return s.adds_c_last ? "last" : "with the products"; };
  const auto block = [](const Steps& s) { return s.block ? std::to_string(s.block) : "all"; };
  const auto kept = [](const Steps& s) { return s.cut ? std::to_string(s.cut->fraction_bits) : "all"; };
  const auto flushed = [](const Steps& s) { return s.flushes ? "flushed" : "kept"; };
  std::vector<Aspect> all = {
      {x.rounds_products != y.rounds_products,
       [](Steps& to, const Steps& from) { to.rounds_products = from.rounds_products; },
       against("products", exactness(x), exactness(y))},
      {x.additions != y.additions, [](Steps& to, const Steps& from) { to.additions = from.additions; },
       against("additions rounded", additions(x), additions(y))},
      {x.adds_c_last != y.adds_c_last, [](Steps& to, const Steps& from) { to.adds_c_last = from.adds_c_last; },
       against("c added", place(x), place(y))},
      {x.block != y.block, [](Steps& to, const Steps& from) { to.block = from.block; },
       against("products per step", block(x), block(y))},
      {(x.cut != nullptr) != (y.cut != nullptr), [](Steps& to, const Steps& from) { to.cut = from.cut; },
       against("bits kept below the greatest exponent", kept(x), kept(y))},
      {x.flushes != y.flushes, [](Steps& to, const Steps& from) { to.flushes = from.flushes; },
       against("subnormals", flushed(x), flushed(y))},
      {x.rounding != y.rounding, [](Steps& to, const Steps& from) { to.rounding = from.rounding; },
       against("rounding", name_of(x.rounding), name_of(y.rounding))}};
  std::erase_if(all, [](const Aspect& aspect) { return !aspect.differs; });
  return all;
}

bool is_finite(const Op& op, const DotOperands& in) {
  const auto finite = [](const Format& format, uint64_t encoding) {
    const NumberClass cls = decode(format.fields(), encoding).cls;
    return cls != NumberClass::nan && cls != NumberClass::infinity;
  };
  for (int i = 0; i < in.k; ++i)
    if (!finite(op.a, in.a[i]) || !finite(op.b, in.b[i])) return false;
  return finite(op.c, in.c);
}

}  // namespace

std::string steps_that_matter(const Judge& judge, const Batch& one) {
  const Op& op = judge.op();
  if (op.kind != OpKind::dot || op.has_scales() || judge.units().size() != 2) return "";
  DotCase loader(op);
  const DotOperands in = loader.load(one, 0);
  if (!is_finite(op, in)) return "";
  const std::optional<Steps> x = steps_of(*judge.units()[0], op), y = steps_of(*judge.units()[1], op);
  if (!x || !y) return "";
  const Verdict verdict = judge.judge(one)[0];
  if (!verdict.fails) return "";
  const auto gives = [&](const Steps& steps, uint64_t result) {
    const std::optional<uint64_t> given = StepwiseDot(op, steps)(in);
    return given && same_result(op, *given, result);
  };
  if (!gives(*x, verdict.first) || !gives(*y, verdict.second)) return "";
  const std::vector<Aspect> aspects = aspects_of(*x, *y);
  for (size_t size = 1; size <= aspects.size(); ++size)
    for (unsigned set = 1; set < 1u << aspects.size(); ++set) {
      if (static_cast<size_t>(__builtin_popcount(set)) != size) continue;
      Steps changed = *x;
      std::string text;
      for (size_t i = 0; i < aspects.size(); ++i)
        if (set >> i & 1) {
          aspects[i].take(changed, *y);
          text += (text.empty() ? "" : "; ") + aspects[i].text;
        }
      if (gives(changed, verdict.second)) return text;
    }
  return "";
}

}  // namespace mmafuzz
