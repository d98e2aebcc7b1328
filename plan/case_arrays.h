// Cases as arrays and back: one array for each field of an op.
#pragma once

#include "core/case_text.h"
#include "core/npy.h"

namespace mmafuzz {

/// An array with the name that messages use for it. A c without a type is one that was not given.
struct NamedArray {
  std::string name;
  NpyArray array;

  bool is_given() const { return !array.type.empty(); }
};

/// The content of a file, and the array of a .npy file. Throw BadInput.
std::string content_of(const std::string& path);
NamedArray read_npy(const std::string& path);

/// The op line of a dot or a matrix product whose arrays tell all of it: numpy types that are formats' own, and c's or
/// the result's shape (a dot has a number for each case, a product a matrix); where c is one number or not given and
/// there are no results, a and b, as of NumPy's a @ b. A c that is not given has the result's format, else fp64, fp32
/// or s32. Throws BadInput where they do not.
std::string op_line_of_arrays(const std::vector<NamedArray>& fields);

/// The op line with the sizes that it leaves out (k=, m=, n=), from the shapes of a and b. Throws BadInput.
Op op_of_arrays(const std::string& op_text, const std::vector<NamedArray>& fields);

/// Cases from the fields of an op in case-text order: dot a (n, k), b (n, k), c (n); gemm a (m, k), b (k, n), c (m, n),
/// with one more dimension in front for several products; convert (n); scalar (n, operands). The result may come last.
/// c may be one number for all, or not be given: +0. An array has the numpy type of its format, or one of encodings:
/// unsigned, or the opaque one that ml_dtypes saves. Throws BadInput.
CaseBlock cases_of_arrays(const Op& op, std::vector<NamedArray> fields);

/// The arrays of cases of one op, by the names of their fields; with "d" where every case has a result. One matrix
/// product is matrices, without the dimension of several.
std::vector<std::pair<std::string, NpyArray>> arrays_of_cases(const CaseBlock& cases);

}  // namespace mmafuzz
