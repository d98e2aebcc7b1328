// Cases as arrays and back: one array for each field of an op.
#pragma once

#include "core/case_text.h"
#include "core/npy.h"

namespace mmafuzz {

/// An array with its name for messages. A c that was not given has no type ("").
struct NamedArray {
  std::string name;
  NpyArray array;

  bool is_given() const { return !array.type.empty(); }
};

/// The content of a file. Throws BadInput.
std::string content_of(const std::string& path);
/// The array of a .npy file. Throws BadInput where the file cannot be read, std::runtime_error as parse_npy() does.
NamedArray read_npy(const std::string& path);

/// The op line, without sizes, of a dot or a matrix product with these arrays: a, b, perhaps c and the result. Formats
/// follow from NumPy's types; a c that is not given has the result's format, or else fp64, s32 or fp32, by a's type.
/// The shape of c or the result tells a product (a matrix) from a dot (a number for each case); where c is one number
/// or not given, and there is no result, a and b do, as in NumPy's a @ b. Throws BadInput where they do not tell.
std::string op_line_of_arrays(const std::vector<NamedArray>& fields);

/// The op of an op line, where k=, m= and n= may be left out: they follow from a's and b's shapes. Throws BadInput.
Op op_of_arrays(const std::string& op_text, const std::vector<NamedArray>& fields);

/// Cases from one array for each field of the op in case-text order, perhaps with the results behind them. Shapes, for
/// N cases: dot a (N, k), b (N, k), c (N); convert (N); scalar (N, operands); gemm a (m, k), b (k, n), c (m, n), with N
/// in front for several products. c may be one number for all, or not be given: +0. An array has NumPy's type of the
/// format's numbers, or is of encodings: unsigned integers, or the opaque bytes that ml_dtypes saves. Throws BadInput.
CaseBlock cases_of_arrays(const Op& op, std::vector<NamedArray> fields);

/// The arrays of cases, named by their fields, with the results as "d" where every case has one. The arrays of a single
/// matrix product have no dimension in front.
std::vector<std::pair<std::string, NpyArray>> arrays_of_cases(const CaseBlock& cases);

}  // namespace mmafuzz
