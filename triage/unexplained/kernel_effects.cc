// Effects for which the kernel is evaluated anew: on the sums of first stages, on the exponents of products, on special
// operands.
#include <algorithm>

#include <fmt/format.h>

#include "core/dot_case.h"
#include "core/text.h"
#include "triage/unexplained/changed_kernel.h"
#include "triage/unexplained/sum_changes.h"

namespace mmafuzz {
namespace {

constexpr int max_beyond = 4;  ///< steps from the bound of an exponent that is looked at

/// The candidate whose forms are changed kernels, the last one of which makes the changes of all others. `names`: of
/// the forms, as " (lane 3)".
EffectCandidate kernel_candidate(const Op& op, const Unit& unit, Stage stage, const std::string& text,
                                 const std::vector<KernelChange>& forms, const std::vector<std::string>& names) {
  const auto results = [=, &model = *unit.model()](const Sample& sample) {
    EffectResults found(forms.size(), sample.of_model);
    DotCase loaded(op);
    for (size_t i = 0; i < sample.cases.size(); ++i) {
      const DotOperands& in = loaded.load(sample.cases[i].as_batch(), 0);
      const auto alters = [&](const KernelChange& change) {
        for (int lane = 0; change.product && lane < op.k; ++lane) {
          const Product p = scaled_product(model, in, lane);
          Product changed = p;
          if (p.cls == NumberClass::finite) change.product(changed, lane);
          if (changed.cls != p.cls || changed.exponent != p.exponent) return true;
        }
        return !change.product;
      };
      for (size_t form = forms.size(); form-- > 0;)  // what the last one, all of them, leaves alone is not looked at
        if ((form + 1 == forms.size() || found.back()[i] != sample.of_model[i]) && alters(forms[form]))
          found[form][i] = evaluate_changed(model, in, forms[form]);
    }
    return found;
  };
  return {stage, text, results, [names](size_t form) { return names[form]; }};
}

}  // namespace

void add_first_stage_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  const DotModel& model = *unit.model();
  // The forms are each group of each step, then all.
  const auto add = [&](const std::string& text, const std::function<void(FirstSum&)>& change) {
    std::vector<KernelChange> forms;
    std::vector<std::string> names;
    const int groups = model.odd_even ? 2 : 1, steps = op.k / model.block;
    for (int place = 0; place < groups * steps; ++place) {
      std::vector<std::string> words;
      if (groups > 1) words.push_back(place % 2 ? "odd lanes" : "even lanes");
      if (steps > 1) words.push_back(fmt::format("step {}", place / groups + 1));
      names.push_back(words.empty() ? "" : " (" + joined(words, ", ") + ")");
      forms.push_back({.first_sum = [=](FirstSum& s, int step) {
        if (place == groups * step + s.first) change(s);
      }});
    }
    names.push_back("");
    forms.push_back({.first_sum = [=](FirstSum& s, int) { change(s); }});
    all.push_back(kernel_candidate(op, unit, Stage::sum, "in the first stage " + text, forms, names));
  };
  for (const auto& [text, change] : digit_changes(model.fraction_bits + 8))
    add(text, [change = change](FirstSum& s) { s.sum = change(s.sum); });
  for (const auto& [text, change] : part_changes("the sum of products"))
    add(text, [change = change](FirstSum& s) { s.sum = static_cast<int64_t>(change(s.sum)); });
  for (int by = 1; by <= max_cuts; ++by) {
    add(fmt::format("the sum of products were 2^{} times as large", by), [by](FirstSum& s) { s.sum *= 1 << by; });
    add(fmt::format("the sum of products were 2^-{} times as large, rounded downwards", by),
        [by](FirstSum& s) { s.sum >>= by; });
    add(fmt::format("the sum of products were rounded downwards to a multiple of 2^{} of its last digit", by),
        [by](FirstSum& s) { s.sum = s.sum >> by << by; });
  }
  add("a sum of products below the least normal number were zero", [](FirstSum& s) {
    if (s.unit() + bit_length(magnitude_of(s.sum)) - 1 < s.model.d.emin()) s.sum = 0;
  });
  // Each product as a number of units; `kept` has no sign.
  using Kept = std::function<uint64_t(const Product&, const FirstSum&)>;
  const auto add_products = [&](const std::string& text, const Kept& kept) {
    add(text, [kept](FirstSum& s) {
      int64_t sum = 0;
      for (int i = s.first; i < s.n; i += s.stride)
        if (const Product& p = s.term[i]; p.significand) sum += with_sign_of(p.negative ? -1 : 1, kept(p, s));
      s.sum = sum;
    });
  };
  add_products("what is cut off of products were rounded to nearest", [](const Product& p, const FirstSum& s) {
    const uint64_t twice = cut(p.significand, p.exponent, s.unit() - 1);
    return (twice >> 1) + (twice & 1);
  });
  add_products("products were cut downwards", [](const Product& p, const FirstSum& s) {
    bool lost;
    return align(p.significand, p.exponent, s.unit(), lost) + (lost && p.negative);
  });
  for (int bits = 1; bits <= max_group_cut; ++bits)
    add_products(fmt::format("each product lost its last {} digits", bits),
                 [bits](const Product& p, const FirstSum& s) {
                   return cut(p.significand, p.exponent, s.unit() + bits) << bits;
                 });
  for (int bits = 3; bits <= 6; ++bits)
    add_products(fmt::format("the shift of a product kept only its last {} bits", bits),
                 [bits](const Product& p, const FirstSum& s) {
                   const int lost = (s.greatest - p.scale_exponent) >> bits << bits;
                   return cut(p.significand, p.exponent + lost, s.unit());
                 });
  for (int shift = 8; shift <= model.fraction_bits + 8; ++shift)
    add_products(fmt::format("products shifted by {} or more were zero", shift),
                 [shift](const Product& p, const FirstSum& s) {
                   return s.greatest - p.scale_exponent >= shift ? 0 : cut(p.significand, p.exponent, s.unit());
                 });
  const auto add_exponent = [&](const std::string& text, const std::function<int(const FirstSum&)>& greatest) {
    add("all were aligned at " + text, [greatest](FirstSum& s) {
      const int aligned_at = greatest(s);
      if (s.sum == 0 || std::abs(aligned_at - s.greatest) > max_moved) return;
      s.greatest = aligned_at;
      s.sum = 0;
      for (int i = s.first; i < s.n; i += s.stride)
        s.sum += with_sign_of(s.term[i].negative ? -1 : 1, cut(s.term[i].significand, s.term[i].exponent, s.unit()));
    });
  };
  for (int by = 1; by <= max_missed; ++by)
    for (const bool more : {true, false})
      add_exponent(fmt::format("an exponent that is {} {}", by, more ? "greater" : "less"),
                   [=](const FirstSum& s) { return s.greatest + (more ? by : -by); });
  if (model.odd_even)
    add_exponent("the greatest exponent of even and odd lanes", [](const FirstSum& s) {
      int greatest = s.greatest;
      for (int i = 0; i < s.n; ++i)
        if (s.term[i].significand) greatest = std::max(greatest, s.term[i].scale_exponent);
      return greatest;
    });
}

void add_first_sum_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  // The forms are each lane, then all.
  const auto add = [&](const std::string& text, const std::function<int(int)>& changed) {
    std::vector<KernelChange> forms;
    std::vector<std::string> names;
    for (int lane = 0; lane < op.k; ++lane) {
      names.push_back(fmt::format(" (lane {})", lane));
      forms.push_back({.shift = [=](int shift, int at) { return at == lane ? changed(shift) : shift; }});
    }
    names.push_back("");
    forms.push_back({.shift = [=](int shift, int) { return changed(shift); }});
    all.push_back(
        kernel_candidate(op, unit, Stage::sum, "in a first sum the shift of a product " + text, forms, names));
  };
  for (int bits = 3; bits <= 6; ++bits)
    add(fmt::format("kept only its last {} bits", bits), [bits](int shift) { return shift & ((1 << bits) - 1); });
  for (const int by : {-1, 1}) add(by < 0 ? "were one less" : "were one more", [by](int shift) { return shift + by; });
}

void add_exponent_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, const Sample& sample) {
  const DotModel& model = *unit.model();
  // The forms are each lane, then all.
  const auto add = [&](const std::string& text, const std::function<void(Product&)>& change, bool is_strict = false) {
    std::vector<KernelChange> forms;
    std::vector<std::string> names;
    for (int lane = 0; lane < op.k; ++lane) {
      names.push_back(fmt::format(" (lane {})", lane));
      forms.push_back({.product = [=](Product& p, int at) {
        if (at == lane) change(p);
      }});
    }
    names.push_back("");
    forms.push_back({.product = [=](Product& p, int) { change(p); }});
    all.push_back(kernel_candidate(op, unit, Stage::operands, text, forms, names));
    all.back().is_strict = is_strict;
  };
  const auto move_by = [](Product& p, int by) {
    p.exponent += by;
    p.scale_exponent += by;
  };
  const auto leading = [](const Product& p) { return p.exponent + bit_length(p.significand) - 1; };
  const auto of_factors = [](const Product& p) { return p.scale_exponent; };
  using ExponentOf = std::function<int(const Product&)>;
  for (const auto& [exponent, name] :
       {std::pair{ExponentOf(leading), "an exponent"}, {ExponentOf(of_factors), "exponents that add up to"}}) {
    // The greatest exponent of each case, and the least, bound what sets the difference off.
    int least_greatest = INT32_MAX, greatest_least = INT32_MIN;
    DotCase loaded(op);
    for (const Operands& c : sample.cases) {
      const DotOperands& in = loaded.load(c.as_batch(), 0);
      int greatest = INT32_MIN, least = INT32_MAX;
      for (int lane = 0; lane < op.k; ++lane)
        if (const Product p = scaled_product(model, in, lane); p.cls == NumberClass::finite)
          greatest = std::max(greatest, exponent(p)), least = std::min(least, exponent(p));
      least_greatest = std::min(least_greatest, greatest);
      greatest_least = std::max(greatest_least, least);
    }
    if (least_greatest == INT32_MIN || least_greatest == INT32_MAX) continue;
    for (const auto& [cls, special] : {std::pair{NumberClass::infinity, "infinite"}, {NumberClass::nan, "NaN"}})
      add(
          fmt::format("products of {} {} or more were {}", name, least_greatest, special),
          [=, exponent = exponent, cls = cls](Product& p) {
            if (exponent(p) >= least_greatest) p.cls = cls;
          },
          true);
    for (int beyond = 1; beyond <= max_beyond; ++beyond)
      for (const bool at_most : {true, false}) {
        const int bound = at_most ? least_greatest - beyond : greatest_least + beyond;
        add(fmt::format("products of {} {} {} had {}", name, bound, at_most ? "or more" : "or less", bound),
            [=, exponent = exponent](Product& p) {
              move_by(p, at_most ? std::min(0, bound - exponent(p)) : std::max(0, bound - exponent(p)));
            });
      }
  }
  for (int bits = 5; bits <= 9; ++bits)
    for (const auto& [zero, name] :
         {std::pair{1 << (bits - 1), ""},
          {model.a.bias + model.b.bias + model.scale_a.bias + model.scale_b.bias, ", with the biases of its factors"},
          {int{model.d.bias}, ", with the bias of d"}})
      add(fmt::format("the exponent of a product kept only its last {} bits{}", bits, name),
          [=, zero = zero](Product& p) {
            move_by(p, ((p.scale_exponent + zero) & ((1 << bits) - 1)) - zero - p.scale_exponent);
          });
}

void add_special_effects(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  const size_t k = static_cast<size_t>(op.k);
  for (size_t first = 0; first <= 2 * k; first += k) {
    DotModel changed = *unit.model();
    FormatFields& f = first == 0 ? changed.a : first == k ? changed.b : changed.c;
    if (f.specials == Specials::none) continue;
    f.specials = Specials::none;
    const size_t lanes = first < 2 * k ? k : 1;
    const auto results = [=, &unit](const Sample& sample) {
      EffectResults found(lanes + 1, sample.of_model);
      DotCase loaded(op);
      for (size_t i = 0; i < sample.cases.size(); ++i) {
        const Operands& c = sample.cases[i];
        const auto is_special = [&](size_t at) { return !is_number(decode(c.format(at), c[at]).cls); };
        size_t specials = 0;
        for (size_t at = 0; at <= 2 * k; ++at) specials += is_special(at);
        const uint64_t of_all = evaluate_dot(changed, loaded.load(c.as_batch(), 0));
        for (size_t lane = 0; lane < lanes; ++lane) {
          if (!is_special(first + lane)) continue;
          Operands one = c;  // beside other specials all numbers are alike
          one[first + lane] =
              encode_near(c.format(first + lane), is_negative(c.format(first + lane), c[first + lane]), 0, 0);
          found[lane][i] = specials == 1 ? of_all : evaluate_dot(*unit.model(), loaded.load(one.as_batch(), 0));
          found.back()[i] = of_all;
        }
      }
      return found;
    };
    const char* name = first == 0 ? "a" : first == k ? "b" : "c";
    all.push_back(
        {Stage::operands, fmt::format("infinities and NaNs of {} were the numbers of their bits", name), results,
         [lanes](size_t form) { return lanes > 1 && form < lanes ? fmt::format(" (lane {})", form) : ""; }, true});
  }
}

}  // namespace mmafuzz
