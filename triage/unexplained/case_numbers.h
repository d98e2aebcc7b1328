// A case as a list of numbers that a condition can be about: fields of its operands, the rounding, the result; of a
// block also those of amax, the greatest magnitude; of a dot also exponent and shift of each addend in each step of the
// model's arithmetic, and the sum of each step. A lane is the index of a product, from 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arithmetic/ieee_operations.h"
#include "core/dot_case.h"
#include "core/recording_trace.h"
#include "triage/operands.h"

namespace mmafuzz {

struct BlockPart;

/// The value of an encoding of an integer format.
int64_t integer_value(const FormatFields& f, uint64_t encoding);

/// The sum of a step before its rounding, where it is aligned, or exact and of at most 120 bits.
std::optional<Exact> exact_sum_of(const Step& s);

/// What one number of the list is.
struct CaseNumber {
  enum class Kind : uint8_t {
    choice,   ///< an index into `names`
    number,   ///< an integer, shown in decimal
    field,    ///< an integer, shown in hexadecimal
    bits,     ///< `width` bits, the lowest of which is bit 0
    leading,  ///< bits, the first of which is bit 63
  };
  enum class Where : uint8_t { operand, addend, sum, result };
  enum class Group : uint8_t { none, lane, step, two_lanes, four_lanes };
  Kind kind;
  Where where;
  Group group;
  int member;                       ///< index of the lane, step or lanes; all have the same numbers in the same order
  std::string prefix, name;         ///< "the exponent field of ", "a3"
  std::string name_in_any, suffix;  ///< "a" in any lane; text after the value
  const char* const* names = nullptr;  ///< of a choice
  int width = 0;                       ///< of bits
  std::string suffix_in_any{};         ///< the suffix in any lane, where it is another one
};

class CaseNumbers {
 public:
  static constexpr int64_t none = INT64_MIN;  ///< a number that a case lacks: a zero has no shift

  /// Case `index` determines the list: its steps, and its operands that are equal. Model and part must outlive this
  /// object; nullptr: the list has no numbers of steps, and of blocks. `result`: as for values_of().
  CaseNumbers(const DotModel* model, const BlockPart* part, const Batch& cases, size_t index, uint64_t result);

  const std::vector<CaseNumber>& all() const { return all_; }
  /// The values of a case, one for each of all(); valid until the next call. `result`: that of a unit without flaw.
  const std::vector<int64_t>& values_of(const Batch& cases, size_t index, uint64_t result);

 private:
  using Kind = CaseNumber::Kind;
  using Where = CaseNumber::Where;
  /// A name in parts, which are joined only while the list is made: "a3*b3".
  struct Name {
    const char* text;
    int number = -1;               ///< -1: the name has none
    const char* second = nullptr;  ///< after the number, and before it once more; nullptr: no second part
  };
  using Group = CaseNumber::Group;
  /// Numbers that are put after this call are of that group and member.
  void enter(Group group, int member);
  /// Appends one number's value, and while listing_ its description.
  void put(Kind kind, Where where, const char* prefix, Name name, int64_t value, const char* const* names = nullptr,
           int width = 0);
  void operand(const FormatFields& f, Name name, uint64_t encoding, bool of_scale);
  void product(const Number& x, const Number& y, Name name);
  void likenesses_of(const DotOperands& in, int lane);
  void steps(const DotOperands& in);
  void step(const Step& s, bool is_there, int number);
  void sum(const Step& s, bool is_there, Name name);
  void size_of(int64_t sum, bool is_there, Name name);
  void adjacent_sums(const Step& s, bool is_there);
  void adjacent_products(const DotOperands& in);
  void greatest_of_groups(const DotOperands& in);
  void carry_of(const Rounded& r, bool is_there, Name name);
  void equal_operands(const DotOperands& in);
  void distances(const DotOperands& in);
  void dropped_bits(uint128 significand, int dropped, Name name);
  void exact_sum(const Step& s, bool is_there, Name name);
  void scales_together(const DotOperands& in, int block);
  void counts(const DotOperands& in);
  void dot(const DotOperands& in);
  void note_equals_and_steps(const DotOperands& in);
  void relations(const Operands& x, uint64_t result);
  void rounding(const Batch& cases, size_t index);
  void block(const Batch& cases, size_t index, const Operands& x);
  void integer_sums(const DotOperands& in);

  Op op_;
  const DotModel* model_;
  const BlockPart* part_;
  DotCase one_;
  std::vector<CaseNumber> all_;
  std::vector<int64_t> values_;  ///< the values that values_of() returns
  std::vector<Step> steps_;      ///< of the case that determines the list
  struct Pair {
    bool is_first_of_b, is_second_of_b;
    int first, second;
  };
  std::vector<Pair> equal_;  ///< operands that are equal and not zero in that case
  std::vector<int> live_;    ///< lanes whose products are not zero in that case, of which distances are looked at
  bool is_listing_ = true;   ///< the constructor makes all_
  Group group_ = Group::none;
  int member_ = 0;
};

}  // namespace mmafuzz
