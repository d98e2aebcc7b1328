// The units `integer` and `integer:bigint`: dots of 8-bit integers with 32-bit sums, c + sum a*b formed exactly and
// then wrapped modulo 2^32 or, where the op says saturate=1, clamped (PTX ISA, mma .s32 with and without .satfinite).
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>

#include "oracles/families.h"
#include "core/function_unit.h"

namespace mmafuzz {
namespace {

int64_t value_of(const FormatFields& f, uint64_t encoding) {
  const Number x = decode(f, encoding);
  return x.negative ? -static_cast<int64_t>(x.significand) : static_cast<int64_t>(x.significand);
}

/// Sums of at most 65536 products of 2^16 and c fit in 64 bits.
class IntegerDotUnit final : public Unit {
 public:
  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    const Op& op = batch.op();
    const auto read = [](const FormatFields& f, uint8_t byte) {
      return f.has_sign() ? static_cast<int8_t>(byte) : static_cast<int>(byte);
    };
    const size_t k = static_cast<size_t>(op.k);
    const bool with_signs = op.a.fields().has_sign() && op.b.fields().has_sign();
    for (size_t i = 0; i < batch.size(); ++i) {
      int64_t sum = value_of(op.c.fields(), batch.c().get(i));
      const uint8_t *a = batch.a().data() + i * k, *b = batch.b().data() + i * k;
      if (with_signs) {  // 65536 products of at most 2^14 fit in 32 bits, and compilers make vectors of this
        int32_t products = 0;
        for (size_t l = 0; l < k; ++l) products += int32_t{static_cast<int8_t>(a[l])} * static_cast<int8_t>(b[l]);
        sum += products;
      } else {
        for (size_t l = 0; l < k; ++l) sum += read(op.a.fields(), a[l]) * read(op.b.fields(), b[l]);
      }
      if (op.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      outcomes.results.set(i, 0, static_cast<uint32_t>(sum));
    }
  }
};

uint64_t bigint_dot(const Op& op, const DotOperands& in) {
  using boost::multiprecision::cpp_int;
  const auto read = [](const FormatFields& f, uint64_t encoding) {
    cpp_int value = encoding;
    if (f.has_sign() && encoding >= (uint64_t{1} << (f.width - 1))) value -= cpp_int(1) << f.width;
    return value;
  };
  cpp_int sum = read(op.c.fields(), in.c);
  for (int l = 0; l < in.k; ++l) sum += read(op.a.fields(), in.a[l]) * read(op.b.fields(), in.b[l]);
  const cpp_int modulus = cpp_int(1) << 32, greatest = (cpp_int(1) << 31) - 1;
  if (op.saturate && sum > greatest) sum = greatest;
  if (op.saturate && sum < -greatest - 1) sum = -greatest - 1;
  return static_cast<uint64_t>(((sum % modulus) + modulus) % modulus);
}

class IntegerFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == "integer" || name == "integer:bigint"; }

  Role role(const std::string& name) const override { return name == "integer" ? Role::other : Role::referee; }

  std::vector<UnitInfo> list() const override {
    const std::string source = "PTX ISA, mma with .s32";
    return {{"integer",
             "dots of s8 and u8 with s32 sums, wrapping or saturating once at the end",
             source,
             {{"equals_model", "integer:bigint"}},
             ""},
            {"integer:bigint", "the twin of `integer` in cpp_int", source, {}, ""}};
  }

  Attributes honours(const std::string&, const Op&) const override { return {.saturate = true}; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (!UnitName(name).settings.empty()) return invalid("unit " + name + " has no parameters");
    const auto narrow = [](const Format& f) { return f.fields().integer && f.fields().width == 8; };
    const auto wide = [](const Format& f) { return f == format("s32"); };
    if (op.kind != OpKind::dot || !narrow(op.a) || !narrow(op.b) || !wide(op.c) || !wide(op.d) || op.has_scales())
      return declined(name + " takes 'op dot' with s8 or u8 operands, c=s32 and d=s32");
    if (name == "integer") return named(std::make_unique<IntegerDotUnit>(), name, {{"equals_model", "integer:bigint"}});
    return named(make_dot_unit([op](const DotOperands& in) { return bigint_dot(op, in); }), name);
  }
};

}  // namespace

std::unique_ptr<Family> make_integer_family() { return std::make_unique<IntegerFamily>(); }

}  // namespace mmafuzz
