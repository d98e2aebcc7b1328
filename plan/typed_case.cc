#include "plan/typed_case.h"

#include <algorithm>

#include "arithmetic/round.h"
#include "core/text.h"
#include "oracles/exact/mpfr_reference.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

constexpr mpfr_prec_t typed_precision = 4096;  ///< in bits; what a number has beyond it counts as a nonzero remainder

bool has_only(std::string_view word, std::string_view characters) {
  return !word.empty() && word.find_first_not_of(characters) == word.npos;
}

bool may_be_encoding(const std::string& word, const Format& format) {
  return word.size() == static_cast<size_t>(format.digits()) && has_only(word, "0123456789abcdefABCDEF");
}

/// Whether the whole word is a decimal, a hex float, inf, infinity or nan. (strtod accepts words that only begin so.)
bool may_be_number(std::string_view word) {
  if (!word.empty() && (word[0] == '+' || word[0] == '-')) word.remove_prefix(1);
  if (word == "inf" || word == "infinity" || word == "nan") return true;
  const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
  if (is_hex) word.remove_prefix(2);
  const size_t end = std::min(word.find_first_of(is_hex ? "pP" : "eE"), word.size());
  std::string digits(word.substr(0, end));
  if (const size_t point = digits.find('.'); point != std::string::npos) digits.erase(point, 1);
  if (!has_only(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789")) return false;
  if (end == word.size()) return true;
  std::string_view exponent = word.substr(end + 1);
  if (!exponent.empty() && (exponent[0] == '+' || exponent[0] == '-')) exponent.remove_prefix(1);
  return has_only(exponent, "0123456789");
}

/// Whether the word has only decimal digits, so that it may be a number or an encoding.
bool has_only_digits(const std::string& word) { return has_only(word, "0123456789"); }

std::string decimal_text(const Format& format, uint64_t encoding) {
  exact::Mpfr x(64);
  exact::set_from_encoding(x.get(), format, encoding);
  return exact::decimal_text(x.get(), format.fields().fraction_bits > 23 ? 17 : 9);
}

std::vector<std::string> fields_of_text(const std::string& text) {
  std::vector<std::string> fields;
  for (size_t at = 0;;) {
    const size_t end = text.find('|', at);
    fields.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return fields;
    at = end + 1;
  }
}

/// The number with an exponent of at most nine digits, which MPFR's can represent: a greater one is cut to 999999999,
/// which is beyond every format, too.
std::string with_near_exponent(const std::string& word) {
  const bool is_hex = word.find_first_of("xX") != std::string::npos;
  const size_t mark = word.find_first_of(is_hex ? "pP" : "eE");
  const size_t digits = word.find_first_not_of("+-0", mark == std::string::npos ? mark : mark + 1);
  if (digits == std::string::npos || word.size() - digits <= 9) return word;
  return word.substr(0, digits) + "999999999";
}

/// Moves a number far outside the format's range (or one that MPFR has made zero) to just outside it, where it rounds
/// in the same way.
void keep_near(exact::Mpfr& x, const FormatFields& f, bool negative) {
  const mpfr_exp_t least = f.least_bit() - 8, greatest = f.emax() + 8;
  if (mpfr_zero_p(x.get())) mpfr_set_si_2exp(x.get(), negative ? -1 : 1, least, MPFR_RNDN);
  else mpfr_set_exp(x.get(), std::clamp(mpfr_get_exp(x.get()), least, greatest));
}

}  // namespace

uint64_t encoding_of(const Format& format, const std::string& word, bool& inexact) {
  const FormatFields& f = format.fields();
  const auto refuse = [&](const std::string& why) -> uint64_t {
    throw BadInput(in_quotes(word) + " is no number of " + format.name() + ": " + why);
  };
  inexact = false;
  if (!may_be_number(word))
    return refuse("expected a decimal, a hex float (0x1.8p+3), inf, nan or the " + std::to_string(format.digits()) +
                  " hex digits of an encoding");
  const bool negative = word[0] == '-';
  const std::string plain = word.substr(negative || word[0] == '+' ? 1 : 0);
  if (plain == "nan") return f.has_nan() && !f.integer ? f.encode_nan() : refuse("it has no NaN");
  if (plain[0] == 'i')
    return f.has_infinity() && !f.integer ? f.encode_infinity(negative) : refuse("it has no infinity");
  exact::Mpfr x(typed_precision);
  const int ternary = mpfr_strtofr(x.get(), with_near_exponent(word).c_str(), nullptr, 0, MPFR_RNDZ);
  if (!f.integer && (ternary != 0 || !mpfr_zero_p(x.get()))) keep_near(x, f, negative);
  if (negative && !f.has_sign() && !mpfr_zero_p(x.get())) return refuse("it has no negative numbers");
  if (f.integer) {
    const int bits = f.width - (f.has_sign() ? 1 : 0);
    if (ternary || !mpfr_integer_p(x.get())) return refuse("it holds whole numbers");
    const bool fits = mpfr_cmp_si_2exp(x.get(), 1, bits) < 0 && mpfr_cmp_si_2exp(x.get(), -1, bits) >= 0;
    const uint64_t beyond = bits < 64 ? uint64_t{1} << bits : 0;
    if (!fits)
      return refuse("it is too large, " + format.name() + " holds " +
                    (f.has_sign() ? "-" + std::to_string(beyond) : "0") + " to " + std::to_string(beyond - 1));
    return (f.has_sign() ? static_cast<uint64_t>(mpfr_get_sj(x.get(), MPFR_RNDZ)) : mpfr_get_uj(x.get(), MPFR_RNDZ)) &
           f.container_mask();
  }
  if (mpfr_zero_p(x.get()) && ternary == 0) {
    if (f.subnormals == SubnormalRule::absent) return refuse("it has no zero");
    return f.encode_zero(negative && f.has_sign());
  }
  const exact::MpfrRounded rounded = exact::round_mpfr(format, x.get(), RoundingRule{}, ternary != 0);
  if (rounded.flags & flag::overflow)
    return refuse("it is too large, the greatest is " + decimal_text(format, f.encode_greatest(false)) +
                  (f.has_infinity() ? "; for infinity write " + std::string(negative ? "-inf" : "inf") : ""));
  exact::Mpfr back(64);
  exact::set_from_encoding(back.get(), format, rounded.encoding);
  inexact = ternary != 0 || !mpfr_equal_p(back.get(), x.get());
  return rounded.encoding;
}

TypedCase typed_case(const Op& op, const std::string& text) {
  std::vector<FieldShape> shapes = op.inputs();
  shapes.push_back(op.result());
  const std::vector<std::string> fields = fields_of_text(text);
  const auto is_flags = [&](size_t field) { return field >= shapes.size(); };
  const auto format_of = [&](size_t field, int element) -> const Format& {
    return field + 1 < shapes.size() ? shapes[field].format : op.result_format(element);
  };
  bool all_encodings = true, some_encodings = false;
  for (size_t i = 0; i < fields.size() && !is_flags(i); ++i) {
    int element = 0;
    for (const std::string& word : words_of(fields[i])) {
      const bool encoding = may_be_encoding(word, format_of(i, element++));
      all_encodings = all_encodings && encoding;
      some_encodings = some_encodings || (encoding && !may_be_number(word));
    }
  }
  if (all_encodings) return {text, {}};  // the reader of case text checks it
  TypedCase typed;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i) typed.line += " | ";
    if (is_flags(i)) {
      typed.line += fields[i];
      continue;
    }
    int element = 0;
    for (const std::string& word : words_of(fields[i])) {
      const Format& format = format_of(i, element);
      bool inexact = false;
      uint64_t encoding = 0;
      if (may_be_encoding(word, format) && !may_be_number(word)) {
        encoding = std::stoull(word, nullptr, 16);
        if (encoding & ~format.fields().container_mask())
          throw BadInput(in_quotes(word) + " does not fit the " + std::to_string(format.fields().width) + " bits of " +
                         format.name());
      } else {
        encoding = encoding_of(format, word, inexact);
        const bool ambiguous = may_be_encoding(word, format) && std::stoull(word, nullptr, 16) != encoding;
        if (ambiguous || (some_encodings && has_only_digits(word) && encoding != 0))
          throw BadInput(in_quotes(word) + " could be a number or an encoding of " + format.name() +
                         ": for the number write a point or a sign (" +
                         (has_only_digits(word) ? word + "." : "+" + word) +
                         "), for encodings write all words of the case as encodings");
      }
      typed.line += (element++ ? " " : "") + to_hex(format, encoding);
      if (inexact)
        typed.notes.push_back(std::string(shapes[i].name) + ": " + word + " is rounded to " + format.name() + " " +
                              to_hex(format, encoding) + " = " + decimal_text(format, encoding));
    }
  }
  typed.line = lower_case(typed.line);
  return typed;
}

}  // namespace mmafuzz
