// The possible effects (effect.h), each with the results that the unit would then have. They are one list because their
// order counts: of those of a stage that explain as much the first one is named.
#include <algorithm>

#include <fmt/format.h>

#include "arithmetic/integer_rounding.h"
#include "search/coverage.h"
#include "triage/unexplained/candidate_results.h"

namespace mmafuzz {
namespace {

using Results = EffectResults;

// Limits of what is tried.
constexpr int max_scales = 64;       ///< bit positions by which a result is shifted
constexpr int max_shifts = 12;       ///< bit positions by which an addend is shifted
constexpr size_t max_wires = 32;     ///< up to so many lanes, a lane reads any other; of more, only adjacent ones
constexpr size_t max_in_pairs = 17;  ///< up to so many addends, pairs of them are left out

void negate(Operands& c, size_t at) {
  const FormatFields& f = c.format(at);
  if (f.integer) c[at] = (0 - c[at]) & f.container_mask();
  else flip_sign(c, at);
}

void exchange_products(Operands& c, size_t i, size_t j) {
  const size_t k = static_cast<size_t>(c.op().k);
  std::swap(c[i], c[j]);
  std::swap(c[k + i], c[k + j]);
}

void set_bit_to(Operands& c, size_t at, int bit, bool one) {
  const uint64_t mask = c.format(at).in_container(uint64_t{1} << bit);
  c[at] = one ? c[at] | mask : c[at] & ~mask;
}

/// Changes of operands by a flaw of a lane, of hardware that two lanes share, or of scales; the simplest first.
/// `block`: products of a step; `lanes`: indices of addends that are not zero in any case, k for c.
void add_operands(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, size_t block,
                  const std::vector<int>& lanes) {
  using Change = std::function<void(Operands&)>;
  const auto add_forms = [&](const std::string& text, const std::vector<Change>& forms) {
    all.push_back({Stage::operands, text, [forms, op, &unit](const Sample& sample) {
                     Results results;
                     for (const Change& form : forms) {
                       std::vector<Operands> changed = sample.cases;
                       for (Operands& c : changed) form(c);
                       results.push_back(results_of(unit, op, changed, sample.of_model));
                     }
                     return results;
                   }});
  };
  const auto add = [&](const std::string& text, const Change& change) { add_forms(text, {change}); };
  const Operands any(op, Batch(op, 1), 0);
  const bool dot = any.is_dot();
  const size_t scales = static_cast<size_t>(op.has_scales() ? op.scales() : 0), operands = any.size() - 2 * scales,
               k = dot || op.is_of_blocks() ? static_cast<size_t>(op.k) : operands;
  for (int i = 0; i < any.addends(); ++i) {
    const std::string addend = addend_name(op, i);
    add(addend + (dot ? " were left out" : " were zero"), [=](Operands& c) { clear_addend(c, i); });
    add(addend + " had the other sign", [=](Operands& c) { negate(c, c.operands_of(i)[0]); });
    for (int by = 1; by <= max_shifts; ++by)
      for (const int shift : {by, -by})
        add(fmt::format("{} were 2^{} times as large", addend, shift), [=](Operands& c) { scale_addend(c, i, shift); });
    add(addend + " lost its sign", [=](Operands& c) {
      for (const size_t at : c.operands_of(i))
        if (decode(c.format(at), c[at]).negative) negate(c, at);
    });
  }
  const auto exchange_steps = [=, model = unit.model()](Operands& c, size_t x, size_t y) {
    for (size_t n = 0; n < block; ++n) {
      const auto lane = [&](size_t step) {
        const size_t position = step * block + n;
        return model ? static_cast<size_t>(added_at(*model, static_cast<int>(position))) : position;
      };
      exchange_products(c, lane(x), lane(y));
    }
  };
  const bool has_steps =
      dot && block > 1 && !scales && k % block == 0 && k <= max_wires && (!unit.model() || unit.model()->k == op.k);
  for (size_t x = 0; has_steps && x < k / block; ++x)
    for (size_t y = x + 1; y < k / block; ++y)
      add(fmt::format("steps {} and {} changed places", x + 1, y + 1), [=](Operands& c) { exchange_steps(c, x, y); });
  if (dot) {
    std::vector<Change> left_out;
    for (int i = 0; i < op.k; ++i) left_out.push_back([=](Operands& c) { clear_addend(c, i); });
    add_forms("one of the products were left out", left_out);
    add("the products came in the reverse order", [k](Operands& c) {
      for (size_t i = 0, j = k - 1; i < j; ++i, --j) exchange_products(c, i, j);
    });
  }
  // Products in each other's lanes: the order of additions, and the step to which each belongs.
  for (size_t i = 0; dot && k <= max_wires && i < k; ++i)
    for (size_t j = i + 1; j < k; ++j)
      add(addend_name(op, static_cast<int>(i)) + " and " + addend_name(op, static_cast<int>(j)) + " changed places",
          [=](Operands& c) { exchange_products(c, i, j); });
  for (size_t at = 0; at < operands; ++at)
    if (any.format(at).has_infinity())
      add(operand_name(op, at) + " were infinity where it is NaN", [=](Operands& c) {
        const FormatFields& f = c.format(at);
        if (decode(f, c[at]).cls == NumberClass::nan) c[at] = f.encode_infinity(is_negative(f, c[at]));
      });
  for (size_t at = 0; at < operands; ++at)
    add(operand_name(op, at) + " were zero where it is subnormal", [=](Operands& c) {
      if (decode(c.format(at), c[at]).subnormal) c.clear(at);
    });
  add("each operand were zero where it is subnormal", [=](Operands& c) {
    for (size_t at = 0; at < operands; ++at)
      if (decode(c.format(at), c[at]).subnormal) c[at] = c.format(at).encode_zero(is_negative(c.format(at), c[at]));
  });
  if (op.kind == OpKind::scalar && operands > 1)
    add("the operand of least magnitude were zero", [=](Operands& c) {
      const auto magnitude = [&](size_t at) { return c[at] & ~c.format(at).sign_bit(); };
      size_t least = 0;
      for (size_t at = 1; at < operands; ++at)
        if (magnitude(at) < magnitude(least)) least = at;
      c.clear(least);
    });
  for (size_t at = 0; at < (dot ? 2 * k : k); ++at)
    for (size_t row = at < k ? 0 : k, from = row; from < row + k; ++from)
      if (from != at && (k <= max_wires || from + 1 == at || at + 1 == from))
        add(operand_name(op, at) + " were read from " + operand_name(op, from), [=](Operands& c) { c[at] = c[from]; });
  // A flaw of all lanes whose condition chooses one.
  for (size_t row = 0; dot && row <= k; row += k)
    for (const bool before : {true, false}) {
      std::vector<Change> forms;
      for (size_t i = before ? 1 : 0; i < (before ? k : k - 1); ++i)
        forms.push_back([at = row + i, from = row + (before ? i - 1 : i + 1)](Operands& c) { c[at] = c[from]; });
      add_forms(fmt::format("one {} were that of the lane {} it", row == 0 ? "a" : "b", before ? "before" : "after"),
                forms);
    }
  for (size_t x = 2 * k + 1; scales && x < 2 * k + 1 + 2 * scales; ++x)
    for (size_t y = x + 1; y < (x < 2 * k + 1 + scales ? 2 * k + 1 + scales : 2 * k + 1 + 2 * scales); ++y)
      add(operand_name(op, x) + " and " + operand_name(op, y) + " changed places",
          [=](Operands& c) { std::swap(c[x], c[y]); });
  for (size_t end = block; dot && end < k; end += block)
    add(fmt::format("c and the first {} products were left out", end), [=](Operands& c) {
      for (size_t i = 0; i < end; ++i) clear_addend(c, static_cast<int>(i));
      c.clear(2 * k);
    });
  // Of both scales the first becomes 1, so that the other can be as large as a product is.
  const auto add_exponent = [&](const std::string& text, const std::function<int(int, const FormatFields&)>& kept) {
    add("the product of two scales kept " + text, [=](Operands& c) {
      for (size_t at = 2 * k + 1; at <= 2 * k + scales; ++at) {
        const FormatFields& f = c.format(at);
        const Number x = decode(f, c[at]), y = decode(f, c[at + scales]);
        if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) continue;
        const int sum = x.scale_exponent + y.scale_exponent, changed = kept(sum, f);
        if (changed == sum) continue;
        scale(c, at, -x.scale_exponent);
        scale(c, at + scales, changed - y.scale_exponent);
      }
    });
  };
  if (scales && op.scale_a == op.scale_b) {
    add_exponent("to the range of one",
                 [](int sum, const FormatFields& f) { return std::clamp(sum, f.emin(), f.emax()); });
    for (int bits = 5; bits <= 9; ++bits)
      for (const bool is_biased : {true, false})
        add_exponent(fmt::format("only the last {} bits of its {}exponent", bits, is_biased ? "biased " : ""),
                     [=](int sum, const FormatFields& f) {
                       const int zero = is_biased ? f.bias : 1 << (bits - 1);
                       return ((sum + zero) & ((1 << bits) - 1)) - zero;
                     });
  }
  for (size_t at = 2 * k + 1; at <= 2 * k + 2 * scales; ++at)
    for (size_t from = 2 * k + 1; from <= 2 * k + 2 * scales; ++from)
      if (from != at && ((from <= 2 * k + scales) == (at <= 2 * k + scales) || op.scale_a == op.scale_b))
        add(operand_name(op, at) + " were read from " + operand_name(op, from), [=](Operands& c) { c[at] = c[from]; });
  const auto of_scale = [k](size_t group) { return 2 * k + 1 + group; };
  for (size_t x = 0; x < scales; ++x)
    for (const size_t y : {x - 1, x + 1}) {
      if (y >= scales) continue;
      add(fmt::format("both scales {} were read from scales {}", x, y), [=](Operands& c) {
        for (const size_t side : {size_t{0}, scales}) c[of_scale(x) + side] = c[of_scale(y) + side];
      });
      if (x < y)
        add(fmt::format("both scales {} and both scales {} changed places", x, y), [=](Operands& c) {
          for (const size_t side : {size_t{0}, scales}) std::swap(c[of_scale(x) + side], c[of_scale(y) + side]);
        });
    }
  for (const size_t side : {size_t{0}, scales})
    for (const bool before : {true, false}) {
      if (scales < 2) continue;
      const char* of = side ? "b" : "a";
      const std::string text = before ? " that of the group before it" : " that of the group after it";
      std::vector<Change> one;
      for (size_t x = before; x < scales - !before; ++x)
        one.push_back([=, at = of_scale(x) + side](Operands& c) { c[at] = c[before ? at - 1 : at + 1]; });
      add(fmt::format("each scale of {} were", of) + text, [=](Operands& c) {
        const Operands from = c;
        for (size_t x = before; x < scales - !before; ++x)
          c[of_scale(x) + side] = from[before ? of_scale(x) + side - 1 : of_scale(x) + side + 1];
      });
      add_forms(fmt::format("one scale of {} were", of) + text, one);
    }
  for (size_t at = 0; at < any.size(); ++at) {
    const FormatFields& f = any.format(at);
    for (int bit = 0; bit < f.width - f.ignored_low_bits; ++bit)
      for (const bool one : {false, true})
        add("bit " + std::to_string(bit) + " of " + operand_name(op, at) + " were " + (one ? "1" : "0"),
            [=](Operands& c) { set_bit_to(c, at, bit, one); });
  }
  // Hardware that compares lanes, or is shared by them, can lose two addends.
  if (lanes.size() > max_in_pairs) return;
  for (size_t i = 0; i < lanes.size(); ++i)
    for (size_t j = i + 1; j < lanes.size(); ++j)
      add(addend_name(op, lanes[i]) + " and " + addend_name(op, lanes[j]) + " were left out",
          [first = lanes[i], second = lanes[j]](Operands& c) {
            clear_addend(c, first);
            clear_addend(c, second);
          });
}

/// Changes of the sum that one step hands on to the next: it becomes the next c.
void add_partial_sums(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit, size_t block) {
  const size_t k = static_cast<size_t>(op.k);
  const FormatFields& f = op.d.fields();
  const auto add = [&](const std::string& text, size_t end, const std::function<uint64_t(uint64_t)>& changed) {
    all.push_back({Stage::operands, fmt::format("the sum after the first {} products {}", end, text),
                   [=, &unit](const Sample& sample) {
                     std::vector<Operands> first = sample.cases, rest = sample.cases;
                     for (Operands& c : first) leave_out(c, end, k, unit.model());
                     const std::vector<uint64_t> sums = results_of(unit, op, first, sample.of_model);
                     for (size_t at = 0; at < rest.size(); ++at) {
                       leave_out(rest[at], 0, end, unit.model());
                       rest[at][2 * k] = changed(sums[at]);
                     }
                     return Results{results_of(unit, op, rest, sample.of_model)};
                   }});
  };
  for (size_t end = block; end < k; end += block) {
    add("were zero where it is subnormal", end, [&f](uint64_t sum) {
      const Number n = decode(f, sum);
      return n.cls == NumberClass::finite && n.subnormal ? f.encode_zero(n.negative) : sum;
    });
    add("were the greatest finite number where it is infinity", end, [&f](uint64_t sum) {
      const Number n = decode(f, sum);
      return n.cls == NumberClass::infinity ? f.encode_greatest(n.negative) : sum;
    });
  }
}

/// Changes by sums of adjacent integer products that are kept in a narrow register.
void add_integer_sums(std::vector<EffectCandidate>& all, const Op& op) {
  enum class Register { saturates, wraps };
  const size_t k = static_cast<size_t>(op.k);
  const auto add_to_result = [&](const std::string& text, const std::function<int64_t(const Operands&)>& change) {
    all.push_back({Stage::sum, text, [=](const Sample& sample) {
                     Results results(1, sample.of_model);
                     for (size_t i = 0; i < sample.cases.size(); ++i)
                       results[0][i] = (results[0][i] + static_cast<uint64_t>(change(sample.cases[i]))) &
                                       low_mask(op.d.fields().width);
                     return results;
                   }});
  };
  const auto value = [](const Operands& c, size_t at) { return integer_value(c.format(at), c[at]); };
  // Adds the candidate that keeps the sums of `count` products, from lane `first` on up to lane `end`, in registers.
  const auto add = [&](const std::string& which, size_t first, size_t end, size_t count, int bits, Register kind) {
    const bool saturates = kind == Register::saturates;
    const char* what = saturates ? "were saturated at" : "kept only its last";
    add_to_result(fmt::format("{} {} {} bits", which, what, bits), [=](const Operands& c) {
      int64_t change = 0;
      for (size_t begin = first; begin + count <= end; begin += count) {
        int64_t sum = 0;
        for (size_t lane = begin; lane < begin + count; ++lane) sum += value(c, lane) * value(c, k + lane);
        const int64_t most = (int64_t{1} << (bits - 1)) - 1;
        change += (saturates ? std::clamp(sum, -most - 1, most) : ((sum + most + 1) & (2 * most + 1)) - most - 1) - sum;
      }
      return change;
    });
  };
  for (size_t count = 2; count <= k; count *= 2)
    for (int bits = 8; bits <= 24; ++bits)
      for (const Register kind : {Register::saturates, Register::wraps}) {
        if (count < k) add(fmt::format("each sum of {} products", count), 0, k, count, bits, kind);
        for (size_t first = 0; first + count <= k; first += count)
          add(fmt::format("the sum of products {} to {}", first, first + count - 1), first, first + count, count, bits,
              kind);
      }
  // A carry into a bit that is lost where all products and c are added, or a group of products to the others.
  for (int bit = 1; bit < op.d.fields().width; ++bit)
    for (const size_t count : {k, k > 2 ? k / 2 : 0, size_t{k > 1}}) {
      if (count == 0) continue;
      const char* where = count == k   ? "between products and c"
                          : count == 1 ? "wherever there was one"
                                       : "between lower and upper lanes";
      add_to_result(fmt::format("the carry into bit {} of the sum were lost ({})", bit, where), [=](const Operands& c) {
        const int64_t mask = (int64_t{1} << bit) - 1;
        int64_t low = count < k && count > 1 ? 0 : value(c, 2 * k) & mask, part = 0;
        for (size_t lane = 0; lane < k; ++lane) {
          part += value(c, lane) * value(c, k + lane);
          if ((lane + 1) % count == 0) low += std::exchange(part, 0) & mask;
        }
        return -((low + (part & mask)) & ~mask);
      });
    }
  for (const bool c_first : {true, false})
    all.push_back({Stage::sum, fmt::format("each addition were saturated, that of c {}", c_first ? "first" : "last"),
                   [=](const Sample& sample) {
                     const FormatFields& d = op.d.fields();
                     const int64_t most = (int64_t{1} << (d.width - (d.has_sign() ? 1 : 0))) - 1;
                     const int64_t least = d.has_sign() ? -most - 1 : 0;
                     Results results(1);
                     for (const Operands& c : sample.cases) {
                       int64_t sum = c_first ? value(c, 2 * k) : 0;
                       for (size_t lane = 0; lane < k; ++lane)
                         sum = std::clamp(sum + value(c, lane) * value(c, k + lane), least, most);
                       if (!c_first) sum = std::clamp(sum + value(c, 2 * k), least, most);
                       results[0].push_back(static_cast<uint64_t>(sum) & low_mask(d.width));
                     }
                     return results;
                   }});
  for (size_t at = 0; at < 2 * k; ++at) {
    const FormatFields& f = (at < k ? op.a : op.b).fields();
    if (f.has_sign())
      add_to_result(operand_name(op, at) + " were read without a sign", [=](const Operands& c) {
        return value(c, at) < 0 ? (int64_t{1} << f.width) * value(c, at < k ? at + k : at - k) : 0;
      });
  }
}

/// A conversion to an integer that keeps the low bits of an integer beyond the range.
void add_wrapping(std::vector<EffectCandidate>& all, const Op& op) {
  all.push_back({Stage::result, "the result were the low bits of the rounded integer", [op](const Sample& sample) {
                   Results results(1, sample.of_model);
                   for (size_t i = 0; i < sample.cases.size(); ++i) {
                     const Number x = decode(op.a.fields(), sample.cases[i][0]);
                     const RoundedInteger r = rounded_integer(x, op.rounding_rule_of(sample.cases[i][0]));
                     if (x.cls == NumberClass::finite && !r.has_over_64_bits)
                       results[0][i] = (x.negative ? 0 - r.magnitude : r.magnitude) & low_mask(op.d.fields().width);
                   }
                   return results;
                 }});
}

/// A conversion or product whose rounding does not see all of the bits that it drops, or sees them in wrong places.
void add_dropped_bits(std::vector<EffectCandidate>& all, const Op& op) {
  constexpr int most_seen = 30;
  std::vector<std::pair<std::string, ChangedMagnitude>> changes;
  for (int seen = 1; seen <= most_seen; ++seen)
    changes.emplace_back(fmt::format("rounding saw only the first {} of the bits that it drops", seen),
                         [seen](uint128 m, int dropped) {
                           const int unseen = dropped - seen;
                           return unseen <= 0 || unseen >= 128 || m >> unseen == 0 ? m : m >> unseen << unseen;
                         });
  if (op.kind == OpKind::convert)  // a product is a sum of IEEE operations, too
    for (auto& change : guard_changes("the source")) changes.push_back(std::move(change));
  for (const auto& [text, change] : changes)
    all.push_back({Stage::result, text, [op, change = change](const Sample& sample) {
                     Results results(1, sample.of_model);
                     for (size_t i = 0; i < sample.cases.size(); ++i) {
                       const Operands& c = sample.cases[i];
                       Exact x = to_exact(decode(c.format(0), c[0]));
                       if (op.kind == OpKind::scalar) x = exact_product(x, to_exact(decode(c.format(1), c[1])));
                       if (x.cls != NumberClass::finite) continue;
                       const int quantum = round_scalar_case(op, c.as_batch(), 0).quantum;
                       const uint128 changed = change(x.significand, quantum - x.exponent);
                       if (changed == x.significand) continue;
                       x.significand = changed;
                       results[0][i] = changed ? round_exact(op.d.fields(), x, op.rounding_rule_of(c[0])).encoding
                                               : op.d.fields().encode_zero(x.negative);
                     }
                     return results;
                   }});
}

/// Changes of the result: a shift of normalization, rounding, one wrong bit.
void add_results(std::vector<EffectCandidate>& all, const FormatFields& d, const DotModel* model) {
  const auto add = [&](const std::string& text, const std::function<uint64_t(uint64_t)>& changed) {
    all.push_back({Stage::result, "the result were " + text, [&d, changed](const Sample& sample) {
                     Results results(1);
                     for (const uint64_t claimed : sample.of_model)
                       results[0].push_back(changed(claimed) & d.container_mask());
                     return results;
                   }});
  };
  if (!d.integer) {
    add("of the other sign", [&d](uint64_t claimed) { return claimed ^ travelling_sign(d); });
    add("an infinity of its sign", [&d](uint64_t x) { return d.encode_infinity(is_negative(d, x)); });
    add("the greatest finite number of its sign", [&d](uint64_t x) { return d.encode_greatest(is_negative(d, x)); });
    add("a zero of its sign", [&d](uint64_t x) { return d.encode_zero(is_negative(d, x)); });
    for (const bool negative : {false, true}) {
      const char* sign = negative ? "-" : "+";
      add(fmt::format("{}0", sign), [&d, negative](uint64_t) { return d.encode_zero(negative); });
      add(fmt::format("{}infinity", sign), [&d, negative](uint64_t) { return d.encode_infinity(negative); });
    }
    const uint64_t nan = model ? model->nan : d.encode_nan();
    add("a NaN", [nan](uint64_t) { return nan; });
    const int most = std::min(max_scales, d.emax() - d.emin() + d.fraction_bits);  // all beyond are alike
    for (int by = -most; by <= most; ++by)
      if (by != 0)
        add(fmt::format("2^{} times as large", by), [&d, by](uint64_t claimed) {
          const Number n = decode(d, claimed);
          return n.cls == NumberClass::finite ? with_exponent(d, claimed, leading_exponent(d, claimed) + by) : claimed;
        });
  }
  for (int bit = 1; d.integer && bit < d.width; ++bit)
    for (const bool less : {true, false})
      add(fmt::format("2^{} {}", bit, less ? "less" : "greater"), [bit, less](uint64_t claimed) {
        return less ? claimed - (uint64_t{1} << bit) : claimed + (uint64_t{1} << bit);
      });
  // The results of some rows have fewer fraction bits than the format.
  const bool short_results = model && model->output_fraction_bits > 0 && model->output_fraction_bits < d.fraction_bits;
  const uint64_t step =
      d.in_container(uint64_t{1} << (short_results ? d.fraction_bits - model->output_fraction_bits : 0));
  add("rounded to the next number away from zero", [=](uint64_t claimed) { return claimed + step; });
  add("rounded to the next number toward zero", [=](uint64_t claimed) { return claimed - step; });
  for (const bool ones : {false, true})
    all.push_back({Stage::result, fmt::format("some of the result's last bits, two or more, were all {}", ones ? 1 : 0),
                   [&d, ones](const Sample& sample) {
                     Results results;
                     for (int bits = 2; bits < d.width; ++bits) {
                       const uint64_t mask = d.in_container(low_mask(bits));
                       std::vector<uint64_t>& form = results.emplace_back(sample.of_model);
                       for (uint64_t& result : form) result = ones ? result | mask : result & ~mask;
                     }
                     return results;
                   }});
  for (int bit = 0; bit < d.width; ++bit)
    add("wrong in bit " + std::to_string(bit), [=](uint64_t claimed) { return claimed ^ uint64_t { 1 } << bit; });
}

/// What a unit may keep of the case before: the beginning of a text, and the indices of the operands.
std::vector<std::pair<std::string, std::vector<size_t>>> remembered(const Op& op) {
  const bool dot = op.kind == OpKind::dot;
  const size_t k = static_cast<size_t>(dot ? op.k : 0), operands = dot ? 2 * k : Operands(op, Batch(op, 1), 0).size();
  std::vector<std::pair<std::string, std::vector<size_t>>> all;
  std::vector<size_t> of_a, of_b;
  for (size_t i = 0; i < k; ++i) of_a.push_back(i), of_b.push_back(k + i);
  if (dot) all.push_back({"c were that", {2 * k}});
  for (size_t i = 0; i < operands; ++i) all.push_back({operand_name(op, i) + " were that", {i}});
  for (size_t i = 0; i < k; ++i) all.push_back({addend_name(op, static_cast<int>(i)) + " were that", {i, k + i}});
  if (dot) all.push_back({"all a were those", of_a});
  if (dot) all.push_back({"all b were those", of_b});
  return all;
}

/// Changes by memory of the case before.
void add_memory(std::vector<EffectCandidate>& all, const Op& op, const Unit& unit) {
  const auto before = [op, &unit](const Sample& sample) {
    return results_of(unit, op, sample.before, sample.of_model);
  };
  all.push_back({Stage::result, "the result were that of the case before",
                 [before](const Sample& sample) { return Results{before(sample)}; }});
  const auto add = [&](const std::string& text, const std::function<void(Operands&, const Operands&, uint64_t)>& take) {
    all.push_back({Stage::operands, text, [=, &unit](const Sample& sample) {
                     std::vector<Operands> changed = sample.cases;
                     const std::vector<uint64_t> earlier = before(sample);
                     for (size_t i = 0; i < changed.size(); ++i) take(changed[i], sample.before[i], earlier[i]);
                     return Results{results_of(unit, op, changed, sample.of_model)};
                   }});
  };
  for (const auto& [what, operands] : remembered(op))
    add(what + " of the case before", [places = operands](Operands& c, const Operands& earlier, uint64_t) {
      for (const size_t at : places) c[at] = earlier[at];
    });
  if (op.kind == OpKind::dot && op.c == op.d)
    add("c were the result of the case before",
        [at = 2 * static_cast<size_t>(op.k)](Operands& c, const Operands&, uint64_t result) { c[at] = result; });
}

}  // namespace

std::vector<EffectCandidate> effect_candidates(const Op& op, const Unit& unit,
                                               const std::vector<ModelVariant>& variants, const Sample& sample) {
  const DotModel* model = unit.model();
  std::vector<EffectCandidate> all;
  std::vector<int> lanes;  // indices of addends that are not zero in any case
  for (int lane = 0; lane <= op.k && op.kind == OpKind::dot; ++lane)
    if (std::none_of(sample.cases.begin(), sample.cases.end(),
                     [&](const Operands& c) { return c.is_zero_addend(lane); }))
      lanes.push_back(lane);
  for (const ModelVariant& v : variants)
    if (v.parameter != "kernel")  // another kernel fits many cases by chance
      all.push_back(
          {v.stage,
           v.parameter.empty() ? v.other_value
           : v.stage == Stage::row
               ? fmt::format("{} ({}) were {} and not {}", v.parameter, v.meaning, v.other_value, v.model_value)
               : fmt::format("it had {} ({})", v.other_value, v.meaning),
           [run = v.run, op](const Sample& of) { return Results{results_of(run, op, of.cases, of.of_model)}; }});
  add_operands(all, op, unit, static_cast<size_t>(model ? products_per_step(*model) : op.k), lanes);
  if (!sample.before.empty()) add_memory(all, op, unit);
  if (op.kind == OpKind::dot && op.c == op.d) {
    if (!op.a.fields().integer)
      add_partial_sums(all, op, unit, static_cast<size_t>(model ? products_per_step(*model) : 1));
    all.push_back({Stage::result, "the result were c", [at = 2 * static_cast<size_t>(op.k)](const Sample& of) {
                     Results results(1);
                     for (const Operands& c : of.cases) results[0].push_back(c[at]);
                     return results;
                   }});
  }
  if (model) add_sum_effects(all, op, unit, sample);
  if (op.kind == OpKind::dot && op.a.fields().integer) add_integer_sums(all, op);
  if (op.kind == OpKind::convert && op.rounds_to_integer()) add_wrapping(all, op);
  if ((op.kind == OpKind::convert && !op.rounds_to_integer()) ||
      (op.kind == OpKind::scalar && op.scalar == ScalarOperation::mul))
    add_dropped_bits(all, op);
  add_ieee_effects(all, op, unit, sample);
  if (model && op.kind == OpKind::dot) add_step_effects(all, op, unit);
  add_results(all, op.d.fields(), model);
  return all;
}

}  // namespace mmafuzz
