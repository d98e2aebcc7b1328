// Every fuzz target, one line each. Builds, tests, campaigns, minimize, promote, packages and docs/fuzzing.md follow
// this table. To add a target, add its line: MMAFUZZ_TARGET(name, looks at, ops, format, properties, without,
// campaigns, contract).
//   looks at    units: units are compared with those that they claim to equal and with each other, and properties are
//               checked; one_unit: properties alone, and of matrix products what units claim to equal; own: the target
//               is fuzz_targets/<name>.cc
//   ops         the list in plan/targets.cc; none for a target whose inputs are not cases of known ops
//   format      the format of a: other ops are left out; "" for any
//   properties  globs of the properties that it checks, less the globs of `without`
//   campaigns   whether campaigns run it: always, never, or asked: where --targets or an op of --ops names it, or no
//               other target has an op that the named units take
//   contract    what a contract failure means
// clang-format off
MMAFUZZ_TARGET(dot_models, units, dots, "", "error_bound,answers", "", always,
  "a unit differs from what it claims to equal: a model from its slow twin, a device or plugin from its model, the exact fast path from MPFR; or a process gives no answer")
MMAFUZZ_TARGET(dot_monotone, one_unit, dots, "", "monotone*,error_bound", "", always,
  "one addend grows and the result falls, on a unit that claims to be monotone; or an error exceeds its bound")
MMAFUZZ_TARGET(dot_metamorphic, one_unit, dots, "", "*", "monotone*", always,
  "a case and the changed case (permuted products, flipped signs, powers of two, zero padding, swapped factors, split k) "
  "give results that the unit's claims exclude")
MMAFUZZ_TARGET(convert, units, conversions, "", "*", "", always,
  "a conversion differs from MPFR in value or flags, or breaks a property that it claims")
MMAFUZZ_TARGET(scalar, units, scalars, "", "*", "", always,
  "an IEEE operation differs from MPFR in value or flags, or breaks a property that it claims")
MMAFUZZ_TARGET(quantize, units, blocks, "", "*", "", asked,
  "a block's scale, codes or numbers differ from MPFR's, or a quantizer breaks a property that it claims")
MMAFUZZ_TARGET(ozaki_dgemm, one_unit, gemms, "fp64", "*", "", always,
  "a product from slices is inexact where it must be exact, exceeds its bound, or loses a NaN, an infinity or a zero's sign")
MMAFUZZ_TARGET(split_gemm, one_unit, gemms, "fp32", "*", "", always,
  "an error-corrected product breaks what ozaki_dgemm checks, or a permutation of tiles changes it")
MMAFUZZ_TARGET(case_text, own, none, "", "", "", always,
  "a file crashes the reader of case text, an error does not say where, or a case changes when it is written and read")
MMAFUZZ_TARGET(any_op, own, none, "", "*", "", never,
  "an op that nobody thought of makes a unit break a claim (engines only; without one: mmafuzz fuzz --op any)")
// clang-format on
