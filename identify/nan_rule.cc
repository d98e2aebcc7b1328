#include "identify/nan_rule.h"

#include <optional>
#include <set>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

bool is_nan(const FormatFields& f, uint64_t encoding) {
  return !f.integer && decode(f, encoding).cls == NumberClass::nan;
}

/// A rule: the first NaN among the operands, in an order of the letters and of the lanes, is the result.
struct PassedOn {
  const char* operands;  ///< "cab": c, then all a, then all b; a letter that is missing is not looked at
  bool goes_by_lane;     ///< a and b of one lane before those of the next lane
  bool begins_with_last_lane;
  bool makes_quiet;

  std::string text() const {
    std::string order;
    for (const char* letter = operands; *letter; ++letter)
      order += (order.empty() ? "" : " before ") + std::string(1, *letter);
    if (std::string_view(operands).size() == 1) order = "of " + order + " alone";
    if (goes_by_lane) order += " in each lane in turn";
    if (begins_with_last_lane) order += ", the last lane first";
    return "a NaN operand is passed on, " + order + (makes_quiet ? ", and made quiet" : " as it is");
  }

  /// The NaN operand that is passed on, as an encoding of d; nullopt where none of the operands is a NaN.
  std::optional<uint64_t> operator()(const Op& op, const DotOperands& in) const {
    const std::string_view letters = operands;
    const auto operand = [&](char letter, int lane) -> std::optional<uint64_t> {
      const Format& f = letter == 'a' ? op.a : letter == 'b' ? op.b : op.c;
      const uint64_t encoding = letter == 'a' ? in.a[lane] : letter == 'b' ? in.b[lane] : in.c;
      return is_nan(f.fields(), encoding) ? std::optional(in_format(f.fields(), op.d.fields(), encoding))
                                          : std::nullopt;
    };
    const auto lane = [&](int i) { return begins_with_last_lane ? op.k - 1 - i : i; };
    for (size_t at = 0; at < letters.size(); ++at) {
      if (letters[at] == 'c') {
        if (const auto c = operand('c', 0)) return c;
        continue;
      }
      const size_t together = goes_by_lane && at + 1 < letters.size() && letters[at + 1] != 'c' ? 2 : 1;
      for (int i = 0; i < op.k; ++i)
        for (size_t j = 0; j < together; ++j)
          if (const auto found = operand(letters[at + j], lane(i))) return found;
      at += together - 1;
    }
    return std::nullopt;
  }

 private:
  /// A NaN in another format: the sign and the highest bits of the payload stay.
  uint64_t in_format(const FormatFields& from, const FormatFields& to, uint64_t encoding) const {
    const uint64_t code = encoding >> from.ignored_low_bits, fraction = code & from.fraction_mask();
    const int up = to.fraction_bits - from.fraction_bits;
    uint64_t kept = up >= 0 ? fraction << up : fraction >> -up;
    if (makes_quiet) kept |= uint64_t{1} << (to.fraction_bits - 1);
    const uint64_t sign = code & from.sign_bit() ? to.sign_bit() : 0;
    return to.in_container(uint64_t(to.top_exponent_field()) << to.fraction_bits | kept | sign);
  }
};

std::set<uint64_t> nans_of(const Evidence& evidence) {
  std::set<uint64_t> nans;
  for (size_t i = 0; i < evidence.size(); ++i)
    if (is_nan(evidence.op().d.fields(), evidence.answer(i))) nans.insert(evidence.answer(i));
  return nans;
}

/// "; any other NaN is 7fc00000", about the answers that are NaNs though no operand that the rule names is one; "" if
/// there are none. nullopt where the rule contradicts an answer or gives none, or where those NaNs differ.
std::optional<std::string> rest_under(const PassedOn& rule, const Evidence& evidence) {
  const Op& op = evidence.op();
  std::optional<uint64_t> rest;
  bool was_used = false;
  for (size_t i = 0; i < evidence.size(); ++i) {
    const uint64_t answer = evidence.answer(i);
    if (!is_nan(op.d.fields(), answer)) continue;
    const std::optional<uint64_t> passed = rule(op, evidence.cases().operands(i));
    if (passed && *passed != answer) return std::nullopt;
    was_used |= passed.has_value();
    if (passed) continue;
    if (rest && *rest != answer) return std::nullopt;
    rest = answer;
  }
  if (!was_used) return std::nullopt;
  return rest ? "; any other NaN is " + to_hex(op.d, *rest) : "";
}

}  // namespace

Questions nan_questions(const Op& op) {
  Questions questions(op);
  questions.texts = {"Which NaN comes out of two?"};
  struct Place {
    size_t column;
    int lane;
  };
  const Place places[] = {{0, 0}, {0, op.k - 1}, {1, 0}, {1, op.k - 1}, {2, 0}};
  const auto nan = [&](size_t place) {
    const FormatFields& f = op.input_format(places[place].column).fields();
    if (!f.has_nan()) return f.encode_zero(false);
    const bool has_payloads = f.has_infinity() && f.fraction_bits > 2;
    return f.encode_nan() ^ (has_payloads ? f.in_container(place % 3) : 0) ^ (place % 2 ? travelling_sign(f) : 0);
  };
  for (size_t x = 0; x < std::size(places); ++x)
    for (size_t y = 0; y <= x; ++y) {
      const size_t at = questions.cases.size();
      questions.cases.resize(at + 1);
      for (const size_t place : {x, y})
        questions.cases.inputs()[places[place].column].set(at, places[place].lane, nan(place));
      questions.of_case.push_back(0);
    }
  return questions;
}

bool nans_differ(const Evidence& evidence) { return nans_of(evidence).size() > 1; }

std::string nan_rule(const Evidence& evidence) {
  for (const char* operands : {"abc", "cab", "bac", "cba", "acb", "bca", "ab", "c", "a", "b"})
    for (const bool goes_by_lane : {false, true})
      for (const bool begins_with_last_lane : {false, true})
        for (const bool quiet : {true, false}) {
          const PassedOn rule{operands, goes_by_lane && std::string_view(operands).size() > 1, begins_with_last_lane,
                              quiet};
          if (const auto rest = rest_under(rule, evidence)) return rule.text() + *rest;
        }
  const std::set<uint64_t> seen = nans_of(evidence);
  std::string text = "no rule was found for its " + std::to_string(seen.size()) + " NaNs:";
  size_t shown = 0;
  for (const uint64_t nan : seen)
    if (++shown <= 4) text += " " + to_hex(evidence.op().d, nan);
  return text + (seen.size() > 4 ? " ..." : "");
}

}  // namespace mmafuzz
