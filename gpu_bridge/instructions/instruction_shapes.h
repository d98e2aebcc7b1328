// Tile shapes of the rows of instructions.def.h, from their sizes and PTX type names.
#pragma once

#include "gpu_bridge/instructions/instructions.def.h"
#include "gpu_bridge/tiles/tile_shape.h"

namespace mmafuzz {

/// Whether two C strings are equal; constexpr, as strcmp is not.
MMAFUZZ_HD constexpr bool same_type(const char* x, const char* y) {
  while (*x && *x == *y) ++x, ++y;
  return *x == *y;
}

/// Bits of an element of a PTX type in a register: 8 for the formats of at most 8 bits, whose names begin with e.
/// (kind::mxf4nvf4, which packs 4 bits, is decided in mma_shape.)
constexpr int register_bits(const char* type) {
  int digits = 0;
  for (const char* p = type; *p; ++p) digits = *p >= '0' && *p <= '9' ? digits * 10 + (*p - '0') : 0;
  return type[0] == 'e' ? 8 : digits;
}

/// The shape of mma.sync from m, n, k and PTX type names; `scales` is the number of scales for each row of a. More than
/// one scale means packed e2m1; one scale or none puts e2m1 in the middle of 8 bits. m8n8k4 of fp16 is four matrices.
constexpr TileShape mma_shape(int m, int n, int k, const char* d, const char* a, const char* b, const char* c,
                              int scales = 0) {
  TileShape s;
  s.m = m;
  s.n = n;
  s.k = k;
  s.operand_bits = scales > 1 ? 4 : register_bits(a);
  s.shift_a = scales <= 1 && same_type(a, "e2m1") ? 2 : 0;
  s.shift_b = scales <= 1 && same_type(b, "e2m1") ? 2 : 0;
  s.c_bits = register_bits(c);
  s.d_bits = register_bits(d);
  s.scales = scales;
  s.matrices = m == 8 && same_type(a, "f16") ? 4 : 1;
  return s;
}

/// The same shape with sparse a: of each four neighbours along k, two are multiplied, of 32-bit types one of each two
/// (PTX ISA, "Sparse matrix storage").
constexpr TileShape sparse_shape(TileShape s) {
  s.neighbours = s.operand_bits == 32 ? 2 : 4;
  s.k /= 2;
  return s;
}

/// The same shape in another family, whose instructions have one matrix.
constexpr TileShape with_family(TileFamily family, TileShape s) {
  s.family = family;
  s.matrices = 1;
  return s;
}

}  // namespace mmafuzz
