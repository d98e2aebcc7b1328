// An explanation as plain data: what each unit did with a case, as a person would write it on paper. Built by
// triage/explain/explain.h, drawn by triage/explain/explanation_text.h (terminal) and triage/explain/explanation_svg.h
// (report). Exponents are unbiased powers of two. The grid of a step is its range of bit weights: alignment keeps the
// bits of an addend that lie on the grid and drops those below it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mmafuzz {

/// One encoding, as people read it.
struct ExplainedNumber {
  std::string hex;      ///< the encoding, as case text writes it
  std::string binary;   ///< hexadecimal floating point: "0x1.8p+1"; "NaN", "+inf", "-inf"
  std::string decimal;  ///< digits enough to distinguish all numbers of the format; empty for NaN and infinities

  std::string to_string() const;  ///< "3f800000  0x1p+0 = 1"
};

/// One term of a sum. Strings of bits hold the digits 0 and 1 only.
struct ExplainedAddend {
  std::string source;  ///< "a0*b0", "c", "group 2", "term 1"
  bool is_negative = false;
  bool is_nonzero = false;    ///< and finite: the members below `special` are meaningful; else `special` is
  std::string special;        ///< "NaN", "+inf", "-inf", "+0", "-0"
  std::string integer_bits;   ///< bits before the point of the significand in [0, 4), whose unit is 2^exponent
  std::string fraction_bits;  ///< bits after the point of that significand, without trailing zeros
  int exponent = 0;           ///< by which the addend is aligned
  int shift = 0;              ///< the step's greatest exponent minus `exponent`
  bool is_kept_negative = false;
  std::string kept;  ///< magnitude that entered the sum, all digits of the grid; empty where the step has no grid
  bool loses_bits = false;  ///< alignment dropped nonzero bits
  std::string fallen;       ///< the dropped bits; the first has weight 2^fallen_top
  int fallen_top = 0;
  std::string sum_so_far;  ///< of the addends up to this one, exact, as ExplainedNumber::binary; empty without a grid

  std::string to_string() const;  ///< "-1.01 * 2^3", or `special`
};

/// One step: aligned addends, their sum, normalization, one rounding. The first digit of the grid has weight
/// 2^(greatest_exponent + grid_integer_bits - 1), the last digit 2^(greatest_exponent - grid_fraction_bits).
struct ExplainedStep {
  std::string kind;                ///< "truncated fused sum"
  int instruction = 0, block = 0;  ///< from 0; `block` counts the blocks of one instruction
  bool has_grid = false;           ///< addends were aligned: the members that need a grid are meaningful
  int greatest_exponent = 0;
  bool floor_decided = false;  ///< the greatest exponent is that of a zero addend or the row's minimum
  int grid_integer_bits = 0, grid_fraction_bits = 0;
  std::vector<ExplainedAddend> addends;  ///< without products that are zero
  int zero_products = 0;                 ///< number of products that are zero
  bool is_sum_negative = false;
  std::string sum;                                   ///< magnitude on the grid
  int carries = 0;                                   ///< leading digits of the sum that no addend reaches
  std::optional<int> leading_exponent;               ///< of a nonzero sum: where normalization puts the leading bit
  bool rounds = false;                               ///< the three below are meaningful
  bool last = false, guard = false, sticky = false;  ///< last bit kept, first bit dropped, whether another dropped is 1
  /// "this sum needs no rounding", "rounded toward zero", "rounded away from zero", "overflow", "flushed to zero"
  std::string rounding;
  ExplainedNumber result;
  int folded = 0;  ///< steps after this one that are left out, because they only add or multiply zeros

  int grid_top() const { return greatest_exponent + grid_integer_bits - 1; }  ///< exponent of the first digit's weight
  int grid_end() const { return greatest_exponent - grid_fraction_bits; }     ///< exponent of the last digit's weight

  std::string title() const;            ///< "instruction 0, block 1: truncated fused sum"
  std::string greatest_text() const;    ///< "greatest exponent 3", and whether it was read by a zero term
  std::string normalized_text() const;  ///< "normalized from 2^3 to 2^1"; empty where the leading bit stays
  std::string rounding_text() const;    ///< ", rounded toward zero (last 1 guard 0 sticky 1)", after the result
  std::string folded_text() const;      ///< "and 13 more steps with zeros, which change nothing"; empty where none is
};

/// What one unit did with the case.
struct ExplainedUnit {
  std::string name;
  std::string parameters;                ///< of a modelled unit: "kernel=fused_sum block=4 ..."
  std::vector<ExplainedStep> steps;      ///< empty for a unit without a trace
  std::vector<ExplainedNumber> results;  ///< empty: no answer
  std::vector<std::string> block;        ///< of an op on blocks: lines of explained_block()
  std::string no_answer;                 ///< why there are no results; empty where there are
  bool has_failed = false;               ///< the unit broke on the case
  std::optional<double> ulps;            ///< error against the exact value; nothing where it is not defined
  std::optional<uint8_t> flags;
  std::string neighbour;  ///< of conversions and scalar operations: "the lower neighbour"

  std::string remarks() const;  ///< "  error 0.5 ulp  flags 01  (the lower neighbour)", after a result
};

/// The rounding of a conversion or scalar operation: the exact result among the numbers of the destination.
struct ExplainedRounding {
  std::vector<ExplainedNumber> operands;
  std::optional<ExplainedNumber> exact;  ///< the exact result, where it is a number of the destination
  ExplainedNumber lower, upper;          ///< else the numbers next to it
  double position = 0;                   ///< of the exact result between the two, 0 to 1, for a picture
  std::string decision;                  ///< "nearest_even: above the midpoint, the upper neighbour"
  std::string reference;                 ///< what MPFR says the op asks for: encoding and flags
};

/// Whether two units differ on a case, or a unit breaks a property, and why.
struct ExplainedVerdict {
  bool fails = false;
  std::string cause;     ///< as of a bucket; empty: none was looked for
  std::string sentence;  ///< "they differ: fraction_bits (...): 23 against 24"
};

struct ExplainedCase {
  std::string op, fields;   ///< the op line and the case line
  std::string exact_value;  ///< decimal, 25 digits; empty where there is none
  std::optional<ExplainedRounding> rounding;
  std::vector<ExplainedUnit> units;
  std::optional<ExplainedVerdict> verdict;  ///< nothing where no statement was asked about or it cannot be judged
  std::vector<std::string> before, after;   ///< case lines of the same sequence before and after this case
};

/// One case on some units, or, for a property of one unit, the case and the changed case.
struct Explanation {
  std::vector<ExplainedCase> cases;
  std::vector<std::string> notes;  ///< about operands that were rounded to their formats
};

}  // namespace mmafuzz
