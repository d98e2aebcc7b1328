// What a case of a dot holds, as numbers that a condition can be about: the fields of its operands, where each addend
// stands in each step of the model's arithmetic, each step's sum and rounding, the result.
#pragma once

#include <string>
#include <vector>

#include "core/dot_case.h"
#include "core/recording_trace.h"

namespace mmafuzz {

uint64_t magnitude_of(int64_t sum);
/// Of an encoding of an integer format.
int64_t integer_value(const FormatFields& f, uint64_t encoding);

/// One of these numbers.
struct CaseNumber {
  enum class Kind : uint8_t {
    choice,  ///< one of `names`
    number,
    field,    ///< a number that is read in hexadecimal
    bits,     ///< of `width`
    leading,  ///< bits, the first one of which is bit 63
  };
  enum class Where : uint8_t { operand, addend, sum, result };
  enum class Group : uint8_t { none, lane, step };
  Kind kind;
  Where where;
  Group group;
  int member;                            ///< which lane or step; each has the same numbers in the same order
  std::string what, of, of_any, behind;  ///< "the exponent field of ", "a3", "a"; what follows the value
  const char* const* names = nullptr;
  int width = 0;
};

class CaseNumbers {
 public:
  static constexpr int64_t none = INT64_MIN;  ///< where a case lacks the number: a zero has no shift

  /// Case `index` has the steps whose numbers are wanted. Without a model, which must outlive this, there are the
  /// numbers of operands and of `result` alone.
  CaseNumbers(const DotModel* model, const Batch& cases, size_t index, uint64_t result);

  const std::vector<CaseNumber>& all() const { return all_; }
  /// One value of each. `result`: what a unit without flaw gives.
  const std::vector<int64_t>& of(const Batch& cases, size_t index, uint64_t result);

 private:
  using Kind = CaseNumber::Kind;
  using Where = CaseNumber::Where;
  /// A name that is made into text only while the numbers are listed: "a3*b3".
  struct Name {
    const char* text;
    int number = -1;
    const char* second = nullptr;
  };
  using Group = CaseNumber::Group;
  void enter(Group group, int member);
  void put(Kind kind, Where where, const char* what, Name of, int64_t value, const char* const* names = nullptr,
           int width = 0);
  void operand(const FormatFields& f, Name name, uint64_t encoding, bool of_scale);
  void steps(const DotOperands& in);
  void step(const Step& s, bool there);
  void sum(const Step& s, bool there, Name name);
  void size_of(int64_t sum, bool there, Name name);
  void equal_operands(const DotOperands& in);
  void counts(const DotOperands& in);
  void integer_sums(const DotOperands& in);

  Op op_;
  const DotModel* model_;
  DotCase one_;
  std::vector<CaseNumber> all_;
  std::vector<int64_t> now_;
  std::vector<Step> steps_;  ///< of the case that has those wanted
  struct Pair {
    bool first_of_b, second_of_b;
    int first, second;
  };
  std::vector<Pair> equal_;  ///< operands that are the same in that case
  bool listing_ = true;
  Group group_ = Group::none;
  int member_ = 0;
};

}  // namespace mmafuzz
