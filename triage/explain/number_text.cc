#include "triage/explain/number_text.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>

#include "arithmetic/round.h"
#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz {

std::string ExplainedNumber::to_string() const {
  return hex + "  " + binary + (decimal.empty() ? "" : " = " + decimal);
}

namespace {

/// A number as glibc's %a writes it: C does not specify the first digit of a subnormal number.
std::string hex_float(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value), fraction = bits & ((uint64_t{1} << 52) - 1);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  std::string digits = fmt::format("{:013x}", fraction);
  digits.erase(digits.find_last_not_of('0') + 1);
  return fmt::format("{}0x{}{}{}p{:+d}", bits >> 63 ? "-" : "", field ? 1 : 0, digits.empty() ? "" : ".", digits,
                     field      ? field - 1023
                     : fraction ? -1022
                                : 0);
}

}  // namespace

std::string bits_text(uint64_t value, int digits) {
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += i < 64 && (value >> i & 1) ? '1' : '0';
  return text;
}

ExplainedNumber explained_number(const Format& format, uint64_t encoding) {
  ExplainedNumber n;
  n.hex = to_hex(format, encoding);
  exact::Mpfr x(64);
  exact::set_from_encoding(x.get(), format, encoding);
  if (mpfr_nan_p(x.get())) {
    n.binary = "NaN";
  } else if (mpfr_inf_p(x.get())) {
    n.binary = mpfr_signbit(x.get()) ? "-inf" : "+inf";
  } else {
    const double value = mpfr_get_d(x.get(), MPFR_RNDN);  // exact: no format is wider than fp64
    n.binary = hex_float(value);
    n.decimal = fmt::format("{:.{}g}", value, format.fields().fraction_bits > 23 ? 17 : 9);
  }
  return n;
}

std::string binary_text(int64_t multiple, int unit) {
  return hex_float(std::ldexp(static_cast<double>(multiple), unit));
}

std::string flags_text(uint8_t flags) {
  constexpr const char* names[] = {"inexact", "underflow", "overflow", "divide by zero", "invalid", "denormal operand"};
  static_assert(flag::denormal_operand == 1 << 5);
  std::string text;
  for (int i = 0; i < 6; ++i)
    if (flags >> i & 1) text += (text.empty() ? "" : ", ") + std::string(names[i]);
  return text.empty() ? "none" : text;
}

}  // namespace mmafuzz
