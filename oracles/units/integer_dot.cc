// The units `integer` and `integer:bigint`: dots of integers of 4, 8 and 16 bits with 32-bit sums, c + sum a*b formed
// exactly and then wrapped modulo 2^32 or, where the op says saturate=1, clamped (PTX ISA, mma .s32 with and without
// .satfinite; Power ISA 3.1, xvi8ger4spp and its relatives).
#include <algorithm>
#include <type_traits>
#include <boost/multiprecision/cpp_int.hpp>

#include "oracles/families.h"
#include "core/function_unit.h"

namespace mmafuzz {
namespace {

/// Sums in int64_t: at most 65536 products below 2^32 in magnitude, and c, fit.
class IntegerDotUnit final : public Unit {
 public:
  explicit IntegerDotUnit(const Op& op) : run_(runs[format_index(op.a.fields())][format_index(op.b.fields())]) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    run_(batch, outcomes.results);
  }

 private:
  /// Reads an encoding of `Bits` bits, stored as a `Storage`, as an integer that is signed if `Storage` is.
  template <class Storage, int Bits>
  struct Integer {
    using type = Storage;
    static int64_t value(Storage x) {
      constexpr int unused = 8 * sizeof(Storage) - Bits;
      return static_cast<Storage>(static_cast<Storage>(x << unused) >> unused);
    }
  };
  using Run = void (*)(const Batch&, Column&);

  template <class A, class B>
  static void run_as(const Batch& batch, Column& results) {
    const Op& op = batch.op();
    const size_t k = static_cast<size_t>(op.k);
    const auto* a = reinterpret_cast<const typename A::type*>(batch.a().data());
    const auto* b = reinterpret_cast<const typename B::type*>(batch.b().data());
    for (size_t i = 0; i < batch.size(); ++i, a += k, b += k) {
      int64_t sum = static_cast<int32_t>(batch.c().get(i));
      if constexpr (std::is_same_v<typename A::type, int8_t> && std::is_same_v<A, B>) {
        int32_t products = 0;  // 65536 products of at most 2^14 fit, and compilers vectorize this loop
        for (size_t l = 0; l < k; ++l)
          products += static_cast<int32_t>(A::value(a[l])) * static_cast<int32_t>(B::value(b[l]));
        sum += products;
      } else {
        for (size_t l = 0; l < k; ++l) sum += A::value(a[l]) * B::value(b[l]);
      }
      if (op.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      results.set(i, 0, static_cast<uint32_t>(sum));
    }
  }

  /// The index of an operand's format in `runs` and With::all: s4, u4, s8, u8, s16, u16.
  static size_t format_index(const FormatFields& f) {
    return (f.width == 4 ? 0 : f.width == 8 ? 2 : 4) + !f.has_sign();
  }

  template <class A>
  struct With {
    static constexpr Run all[] = {run_as<A, Integer<int8_t, 4>>,   run_as<A, Integer<uint8_t, 4>>,
                                  run_as<A, Integer<int8_t, 8>>,   run_as<A, Integer<uint8_t, 8>>,
                                  run_as<A, Integer<int16_t, 16>>, run_as<A, Integer<uint16_t, 16>>};
  };
  static constexpr const Run* runs[] = {With<Integer<int8_t, 4>>::all,   With<Integer<uint8_t, 4>>::all,
                                        With<Integer<int8_t, 8>>::all,   With<Integer<uint8_t, 8>>::all,
                                        With<Integer<int16_t, 16>>::all, With<Integer<uint16_t, 16>>::all};
  Run run_;
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
    const std::string source = "PTX ISA, mma with .s32; Power ISA 3.1, VSX integer outer products";
    return {{"integer",
             "dots of integers of 4, 8 and 16 bits with s32 sums, wrapping or saturating once at the end",
             source,
             {{"equals_model", "integer:bigint"}},
             ""},
            {"integer:bigint", "the twin of `integer` in cpp_int", source}};
  }

  Attributes honours(const std::string&, const Op&) const override { return {.saturate = true}; }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (!UnitName(name).settings.empty()) return invalid("unit " + name + " has no parameters");
    const auto is_narrow = [](const Format& f) { return f.fields().integer && f.fields().width <= 16; };
    const Format s32 = format("s32");
    if (op.kind != OpKind::dot || !is_narrow(op.a) || !is_narrow(op.b) || op.c != s32 || op.d != s32 || op.has_scales())
      return declined(name + " takes 'op dot' with integers of 4, 8 or 16 bits, c=s32 and d=s32");
    if (name == "integer")
      return named(std::make_unique<IntegerDotUnit>(op), name, {{"equals_model", "integer:bigint"}});
    return named(make_dot_unit([op](const DotOperands& in) { return bigint_dot(op, in); }), name);
  }
};

}  // namespace

std::unique_ptr<Family> make_integer_family() { return std::make_unique<IntegerFamily>(); }

}  // namespace mmafuzz
