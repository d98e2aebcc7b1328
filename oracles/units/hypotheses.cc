// The family `hypothesis:`: arithmetic that a matrix unit might follow, but does not; Valpey et al. test it ("An SMT
// formalization of mixed-precision matrix multiplication", section 4): sums of IEEE additions in some order and format.
// `mmafuzz bench discriminate` finds the inputs that refute them.
#include "arithmetic/ieee_operations.h"
#include "core/function_unit.h"
#include "core/text.h"
#include "core/unit_name.h"
#include "oracles/families.h"

namespace mmafuzz {
namespace {

/// The order of the additions: c joins last, with the last product or first.
enum class Order { left_to_right, right_to_left, from_c };

/// To what each product, or each sum, is rounded: fp32, which holds the products of fp16, or the operands' format.
enum class IntermediateFormat { fp32, of_operands };
constexpr IntermediateFormat fp32 = IntermediateFormat::fp32, of_operands = IntermediateFormat::of_operands;

struct Hypothesis {
  const char* name;
  const char* summary;
  const char* source;  ///< section and property of the paper
  Order order;
  IntermediateFormat products, sums;
};

constexpr Hypothesis hypotheses[] = {
    {"hypothesis:left-to-right", "((p0 + p1) + ...) + c in fp32", "4.3, properties 3 and 4; modes: 4.2",
     Order::left_to_right, fp32, fp32},
    {"hypothesis:right-to-left", "p0 + (p1 + (... + c)) in fp32", "4.3, property 3", Order::right_to_left, fp32, fp32},
    {"hypothesis:from-c", "((c + p0) + p1) + ... in fp32", "6, the example of Fasi et al. that adds to c",
     Order::from_c, fp32, fp32},
    {"hypothesis:narrow-products", "products in the operands' format, left-to-right", "4.1, listing 1",
     Order::left_to_right, of_operands, fp32},
    {"hypothesis:narrow-sums", "products and sums in the operands' format, left-to-right", "4.1, property 1",
     Order::left_to_right, of_operands, of_operands},
};

/// Every operation rounds once in the given mode; the last sum is converted to d's format to nearest even (4.2,
/// property 2).
class OrderedSum {
 public:
  OrderedSum(const Op& op, const Hypothesis& h, Rounding rounding)
      : operand_(op.a.fields()),
        c_(op.c.fields()),
        d_(op.d.fields()),
        product_(h.products == of_operands ? operand_ : fp32_fields),
        sum_(h.sums == of_operands ? operand_ : fp32_fields),
        order_(h.order) {
    rule_.rounding = rounding;
  }

  uint64_t operator()(const DotOperands& in) const {
    const Exact c = to_exact(decode(c_, in.c));
    Exact sum = c;
    switch (order_) {
      case Order::left_to_right:
        sum = product(in, 0);
        for (int i = 1; i < in.k; ++i) sum = add(sum, product(in, i));
        sum = add(sum, c);
        break;
      case Order::right_to_left:
        for (int i = in.k - 1; i >= 0; --i) sum = add(product(in, i), sum);
        break;
      case Order::from_c:
        for (int i = 0; i < in.k; ++i) sum = add(sum, product(in, i));
        break;
    }
    return add_exact(d_, sum, zero_like(sum), RoundingRule{}).encoding;
  }

 private:
  /// A zero that can be added to x, of any class, without changing it: it has x's sign.
  static Exact zero_like(const Exact& x) { return {NumberClass::zero, x.negative, 0, 0}; }

  Exact add(const Exact& x, const Exact& y) const {
    return to_exact(decode(sum_, add_exact(sum_, x, y, rule_).encoding));
  }

  Exact product(const DotOperands& in, int i) const {
    const Exact p = exact_product(operand_, in.a[i], operand_, in.b[i]);
    return to_exact(decode(product_, add_exact(product_, p, zero_like(p), rule_).encoding));
  }

  FormatFields operand_, c_, d_, product_, sum_;
  Order order_;
  RoundingRule rule_;
};

constexpr Rounding roundings[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                                  Rounding::nearest_away};
constexpr Rounding default_rounding = Rounding::toward_zero;  // the paper's, table 2

std::string rounding_names() {
  std::string names;
  for (const Rounding r : roundings)
    names += std::string(names.empty() ? "" : " | ") + name_of(r) + (r == default_rounding ? " (default)" : "");
  return names;
}

Result<Rounding> parse_rounding(const std::string& name, std::string_view overrides) {
  if (overrides.empty()) return default_rounding;
  for (const Rounding r : roundings)
    if (overrides == std::string("rounding=") + name_of(r)) return r;
  return invalid("unit " + in_quotes(name) + ": a hypothesis takes rounding=" + rounding_names());
}

class HypothesisFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return entry_named(hypotheses, name) != nullptr; }

  Role role(const std::string&) const override { return Role::hypothesis; }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const Hypothesis& h : hypotheses)
      all.push_back({h.name,
                     std::string("dot: ") + h.summary + "; ?rounding=, " + name_of(default_rounding) + " by default",
                     std::string("Valpey et al., ") + h.source,
                     {},
                     ""});
    return all;
  }

  FamilyParameters parameters() const override {
    return {"hypothesis:", {{"rounding", "of every sum", rounding_names()}}};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const UnitName parts(name);
    const Result<Rounding> rounding = parse_rounding(name, parts.settings);
    if (!rounding) return rounding.refusal();
    const bool narrow = op.kind == OpKind::dot && op.a == op.b && op.a.fields().width <= 16 && !op.a.fields().integer &&
                        !op.has_scales();
    if (!narrow || (op.d != format("fp32") && op.d != format("fp16")))
      return declined(
          "hypotheses are dots of one format of at most 16 bits, without scales, with fp32 or fp16 results");
    return named(make_dot_unit(OrderedSum(op, *entry_named(hypotheses, parts.plain()), *rounding)), name);
  }
};

}  // namespace

std::unique_ptr<Family> make_hypothesis_family() { return std::make_unique<HypothesisFamily>(); }

}  // namespace mmafuzz
