#include "triage/replacements.h"

#include <algorithm>

#include "arithmetic/specials.h"
#include "oracles/models/parameters.h"
#include "core/unit_name.h"

namespace mmafuzz {
namespace {

std::string assignment(const char* name, const DotModel& model) {
  return std::string(name) + "=" + parameter_text(*find_parameter(name), model);
}

bool uses(const DotModel& model, const char* name) { return find_parameter(name)->used_by(model.kernel); }

void join(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

/// The row with the parameters of an exact sum that is rounded once. Its maximal `fraction_bits` approximate that.
DotModel exact_row(const DotModel& model, const Op& op) {
  DotModel m = model;
  m.k = m.block = std::min(op.k, max_instruction_k);
  m.fraction_bits = static_cast<int>(find_parameter("fraction_bits")->greatest);
  m.zero_rule = ZeroRule::constant;
  m.zero_exponent = static_cast<int>(find_parameter("zero_exponent")->least);
  m.integer_bits = 0;
  m.output_fraction_bits = m.d.fraction_bits;
  m.output_rounding = op.rounding;
  m.overflow = Overflow::by_rounding;
  m.output_via = OutputVia::direct;
  m.underflow_sign = UnderflowSign::kept;
  m.zero_sign = ZeroSign::positive;
  m.nan = m.d.encode_nan();
  m.special_scope = SpecialScope::whole_k;
  m.low_bits = LowBits::ignored;
  m.subnormals = Subnormals::kept;
  m.product_overflow = ProductOverflow::none;
  m.overflow_rank = OverflowRank::equal;
  m.odd_even = false;
  m.c_special = CSpecial::propagates;
  return m;
}

/// The minimum exponent in the alignment of a nonzero product or c, of a row without scales (docs/semantics.md, 1).
int least_term_exponent(const DotModel& m) {
  const int below = m.product == ProductRule::normalized ? m.a.fraction_bits + m.b.fraction_bits : 0;
  return std::min(m.a.emin() + m.b.emin() - below, least_exponent_of_c(m, m.c) - m.c_guard_bits);
}

/// Whether the parameter is `k` and its difference is part of the replacement of `block`.
bool goes_with_block(const Parameter& p, const DotModel& first, const DotModel& second) {
  return std::string_view(p.name) == "k" && uses(first, "block") && uses(second, "block") &&
         first.block != second.block;
}

}  // namespace

std::string Replacement::detail() const {
  return name + " (" + find_parameter(name)->meaning + "): " + first + " against " + second;
}

bool never_shows(const std::string& parameter, const DotModel& first, const DotModel& second) {
  DotModel other = first;
  other.k = second.k;
  if (parameter == "k") return same_arithmetic(first, other);
  if (first.scale_block || second.scale_block) return false;  // scales reach far down
  const int least = std::min(least_term_exponent(first), least_term_exponent(second));
  return parameter == "zero_exponent" && std::max(first.zero_exponent, second.zero_exponent) <= least;
}

std::string with_overrides_in_name(const std::string& model, const std::string& overrides) {
  UnitName name = UnitName(model).with(overrides);
  auto settings = name.each_setting();
  // Parameters that the other kernel does not have are replaced together with the kernel.
  const auto kernel = std::find_if(settings.begin(), settings.end(), [](const auto& s) { return s.first == "kernel"; });
  if (kernel != settings.end()) {
    const std::vector<std::string>& words = find_parameter("kernel")->words;
    const auto known = std::find(words.begin(), words.end(), kernel->second);
    const Kernel used = static_cast<Kernel>(known - words.begin());
    if (known != words.end())
      std::erase_if(settings, [&](const auto& s) {
        const Parameter* p = find_parameter(s.first);
        return p && !p->used_by(used);
      });
  }
  name.settings = settings_text(settings);
  return name.text();
}

std::vector<Replacement> replacements(const DotModel& first, const DotModel& second) {
  std::vector<Replacement> list;
  Replacement kernel;
  const Parameter& kernel_parameter = *find_parameter("kernel");
  if (first.kernel != second.kernel) {
    kernel = {"kernel",
              {assignment("kernel", second)},
              parameter_text(kernel_parameter, first),
              parameter_text(kernel_parameter, second)};
  }
  for (const Parameter& p : parameters()) {
    if (&p == &kernel_parameter || p.get(first) == p.get(second) || !p.used_by(second.kernel)) continue;
    if (!p.used_by(first.kernel)) {
      join(kernel.overrides[0], assignment(p.name, second));
      continue;
    }
    if (goes_with_block(p, first, second)) continue;
    Replacement r{p.name, {assignment(p.name, second)}, parameter_text(p, first), parameter_text(p, second)};
    if (std::string_view(p.name) == "block" && first.k != second.k) join(r.overrides[0], assignment("k", second));
    list.push_back(std::move(r));
  }
  if (!kernel.name.empty()) list.push_back(std::move(kernel));
  return list;
}

std::vector<Replacement> replacements_by_exact(const DotModel& model, const Op& op) {
  const DotModel ideal = exact_row(model, op);
  std::vector<Replacement> list = replacements(model, ideal);
  for (Replacement& r : list) {  // the exact sum has no such limits, and the numbers of `ideal` only represent that
    if (r.name == "fraction_bits") r.overrides.push_back("kernel=exact_sum");
    if (r.name == "fraction_bits" || r.name == "block" || r.name == "k") r.second = "all";
    if (r.name == "zero_exponent") r.second = "none";
  }
  return list;
}

}  // namespace mmafuzz
