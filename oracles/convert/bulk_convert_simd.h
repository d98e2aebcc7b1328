// Conversion of arrays of fp32 or bf16 numbers to any format that has a BulkPlan, in vectors (Highway), and back by
// table.
#pragma once

#include <cstddef>
#include <vector>

#include "arithmetic/convert_bulk.h"

namespace mmafuzz {

/// The index of an element's random bits (random_word): its position in the array, or its source encoding (for units).
enum class DrawBy : uint8_t { position, source };

class BulkConversion {
 public:
  /// has_bulk_plan(to) must hold; `rule.random` is not used.
  BulkConversion(const FormatFields& to, const RoundingRule& rule, uint64_t seed = 0, DrawBy draw_by = DrawBy::position)
      : plan_(make_bulk_plan(to, rule)), seed_(seed), draw_by_(draw_by) {}

  const BulkPlan& plan() const { return plan_; }
  /// Bytes of a result: 1, 2, or 4 for tf32, which travels in 32 bits.
  int result_bytes() const { return plan_.to.width <= 8 ? 1 : plan_.to.width <= 16 ? 2 : 4; }

  /// Converts `count` fp32 encodings; `first` is the position of the first one in the whole array. results: count *
  /// result_bytes() bytes; flags: count bytes, or null. May be called from many threads at once.
  void run(const uint32_t* sources, size_t count, uint64_t first, void* results, uint8_t* flags) const {
    run(reinterpret_cast<const uint8_t*>(sources), 4, count, first, static_cast<uint8_t*>(results), flags);
  }
  /// The same for bf16 encodings.
  void run(const uint16_t* sources, size_t count, uint64_t first, void* results, uint8_t* flags) const {
    run(reinterpret_cast<const uint8_t*>(sources), 2, count, first, static_cast<uint8_t*>(results), flags);
  }
  /// The same for encodings of 4 bytes, fp32, or of 2, bf16.
  void run(const uint8_t* sources, int source_bytes, size_t count, uint64_t first, uint8_t* results,
           uint8_t* flags) const;

  /// Converts the element at `position` by scalar code, from fp32 or bf16.
  BulkResult convert_one(uint32_t source, uint64_t position) const { return convert_one(source, source, position); }
  BulkResult convert_one(uint16_t source, uint64_t position) const {
    return convert_one(fp32_of_bf16(source), source, position);
  }

  uint64_t seed() const { return seed_; }
  DrawBy draw_by() const { return draw_by_; }

 private:
  BulkResult convert_one(uint32_t widened, uint64_t source, uint64_t position) const {
    return convert_bulk(plan_, widened,
                        random_word(seed_, draw_by_ == DrawBy::source ? source : position, plan_.rule.random_bits));
  }

  BulkPlan plan_;
  uint64_t seed_;
  DrawBy draw_by_;
};

/// Exact conversion to fp32 of every encoding of a format of at most 16 bits, by table. Sources of uint8_t are for
/// formats of at most 8 bits.
class WideningTable {
 public:
  explicit WideningTable(const FormatFields& from);
  uint32_t operator[](uint64_t encoding) const { return values_[encoding]; }
  void run(const uint8_t* sources, size_t count, uint32_t* results) const;
  void run(const uint16_t* sources, size_t count, uint32_t* results) const;

 private:
  std::vector<uint32_t> values_;
};

}  // namespace mmafuzz
