#include "triage/replacements.h"

#include <algorithm>

#include "oracles/units/parameters.h"

namespace mmafuzz {
namespace {

std::string assignment(const char* name, const DotModel& model) { return std::string(name) + "=" + parameter_text(*find_parameter(name), model); }

std::string detail_of(const Parameter& p, const std::string& first, const std::string& second) {
  return std::string(p.name) + " (" + p.meaning + "): " + first + " against " + second;
}

bool uses(const DotModel& model, const char* name) { return find_parameter(name)->used_by(model.kernel); }

void join(std::string& list, const std::string& item) { list += (list.empty() ? "" : ",") + item; }

/// What a row would have to hold to round the exact sum once. Of `fraction_bits` the adder's widest is only an approximation.
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

/// How many products a step sums goes by one name.
bool goes_with_block(const Parameter& p, const DotModel& first, const DotModel& second) {
  return std::string_view(p.name) == "k" && uses(first, "block") && first.block != second.block;
}

}  // namespace

std::string model_name_of(const Unit& unit) {
  for (const char* family : {"model:", "twin:"})
    if (unit.name().starts_with(family)) return "model:" + unit.name().substr(std::string(family).size());
  for (const Claim& claim : unit.claims())
    if (claim.property == "equals_model" && claim.detail.starts_with("model:")) return claim.detail;
  return "";
}

bool is_reference(const Unit& unit) {
  const std::string& name = unit.name();
  return name == "exact" || name == "ieee" || name.starts_with("exact:") || name.starts_with("ieee:") || name.starts_with("cpu:") ||
         name.starts_with("hypothesis:");
}

std::string with_overrides_in_name(const std::string& model, const std::string& overrides) {
  const size_t question = model.find('?');
  std::vector<std::pair<std::string, std::string>> set;  // in order of appearance; the last value counts
  const auto read = [&](std::string_view text) {
    while (!text.empty()) {
      const std::string one(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.size(), one.size() + 1));
      const std::string name = one.substr(0, one.find('='));
      std::erase_if(set, [&](const auto& earlier) { return earlier.first == name; });
      set.emplace_back(name, one);
    }
  };
  if (question != std::string::npos) read(std::string_view(model).substr(question + 1));
  read(overrides);
  // What another kernel does not know goes with the old one.
  const auto kernel = std::find_if(set.begin(), set.end(), [](const auto& s) { return s.first == "kernel"; });
  if (kernel != set.end()) {
    const std::vector<std::string>& words = find_parameter("kernel")->words;
    const std::string word = kernel->second.substr(kernel->second.find('=') + 1);
    const auto known = std::find(words.begin(), words.end(), word);
    const Kernel used = static_cast<Kernel>(known - words.begin());
    if (known != words.end())
      std::erase_if(set, [&](const auto& s) {
        const Parameter* p = find_parameter(s.first);
        return p && !p->used_by(used);
      });
  }
  std::string name = model.substr(0, question);
  for (size_t i = 0; i < set.size(); ++i) name += (i ? "," : "?") + set[i].second;
  return name;
}

std::vector<Replacement> replacements(const DotModel& first, const DotModel& second) {
  std::vector<Replacement> list;
  Replacement kernel;
  const Parameter& kernel_parameter = *find_parameter("kernel");
  if (first.kernel != second.kernel) {
    kernel = {"kernel", {assignment("kernel", second)}, detail_of(kernel_parameter, parameter_text(kernel_parameter, first), parameter_text(kernel_parameter, second))};
  }
  for (const Parameter& p : parameters()) {
    if (&p == &kernel_parameter || p.get(first) == p.get(second) || !p.used_by(second.kernel)) continue;
    if (!p.used_by(first.kernel)) {
      join(kernel.overrides[0], assignment(p.name, second));
      continue;
    }
    if (goes_with_block(p, first, second)) continue;
    Replacement r{p.name, {assignment(p.name, second)}, detail_of(p, parameter_text(p, first), parameter_text(p, second))};
    if (std::string_view(p.name) == "block" && first.k != second.k) join(r.overrides[0], assignment("k", second));
    list.push_back(std::move(r));
  }
  if (!kernel.name.empty()) list.push_back(std::move(kernel));
  return list;
}

std::vector<Replacement> replacements_by_exact(const DotModel& model, const Op& op) {
  const DotModel ideal = exact_row(model, op);
  std::vector<Replacement> list = replacements(model, ideal);
  for (Replacement& r : list) {
    if (r.name != "fraction_bits") continue;
    r.overrides.push_back("kernel=exact_sum");
    r.detail = detail_of(*find_parameter("fraction_bits"), std::to_string(model.fraction_bits), "all");
  }
  return list;
}

}  // namespace mmafuzz
