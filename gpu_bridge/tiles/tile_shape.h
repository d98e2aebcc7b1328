// The shape of one matrix instruction and where each element of its operands lives: pure functions from (lane, element)
// to (row, column), for host and device. Source: PTX ISA, "Matrix fragments for mma" and "Register fragments for
// wgmma"; elements of a lane are numbered as PTX numbers them, packed from the lowest bits of the lane's first register
// on.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

enum class TileFamily : uint8_t {
  mma,    ///< mma.sync: one warp, every operand in registers
  wgmma,  ///< wgmma: four warps, b in shared memory as core matrices of 8 columns x 16 bytes without swizzle
  wmma,   ///< the WMMA interface: tiles in memory; the layout of fragments is not specified
};

/// No instruction has more dots in a tile (wgmma m64n8: 512).
inline constexpr int greatest_cells = 512;

/// Structural, so that kernels can be templates over it.
struct TileShape {
  TileFamily family = TileFamily::mma;
  int m = 0, n = 0, k = 0;
  int operand_bits = 0;          ///< of an element of a or b in a register: 4, 8, 16, 32, 64
  int shift_a = 0, shift_b = 0;  ///< of a narrower encoding inside them: e2m1 stands in the middle of 8 bits
  int c_bits = 0, d_bits = 0;
  int scales = 0;    ///< per row of a and per column of b; 0: none
  int matrices = 1;  ///< computed side by side (m8n8k4 of fp16: 4, by quad pairs)

  constexpr bool operator==(const TileShape&) const = default;

  MMAFUZZ_HD constexpr int lanes() const { return family == TileFamily::wgmma ? 128 : 32; }
  MMAFUZZ_HD constexpr int rows() const { return matrices * m; }
  MMAFUZZ_HD constexpr int columns() const { return matrices * n; }
  MMAFUZZ_HD constexpr int cells() const { return matrices * m * n; }
  /// Independent dots that fit: one row and one column each.
  MMAFUZZ_HD constexpr int slots() const { return matrices * (m < n ? m : n); }
  MMAFUZZ_HD constexpr int operand_bytes() const { return operand_bits <= 8 ? 1 : operand_bits / 8; }
  MMAFUZZ_HD constexpr int a_elements() const { return rows() * k / lanes(); }
  MMAFUZZ_HD constexpr int b_elements() const { return columns() * k / lanes(); }
  MMAFUZZ_HD constexpr int c_elements() const { return cells() / lanes(); }
  MMAFUZZ_HD constexpr int a_registers() const { return (a_elements() * operand_bits + 31) / 32; }
  MMAFUZZ_HD constexpr int b_registers() const { return (b_elements() * operand_bits + 31) / 32; }
  MMAFUZZ_HD constexpr int c_registers() const { return c_elements() * c_bits / 32; }
  MMAFUZZ_HD constexpr int d_registers() const { return c_elements() * d_bits / 32; }
  /// The column of b that a cell of c uses: matrices side by side are independent.
  MMAFUZZ_HD constexpr int b_column(int row, int column) const { return row / m * n + column; }
};

/// A place in a matrix: of a: row and k; of b: k and column; of c and d: row and column.
struct Place {
  int row, column;
};

/// Row and k of element i of a.
MMAFUZZ_HD constexpr Place a_place(const TileShape& s, int lane, int i) {
  if (s.matrices == 4) return {(lane % 16) / 4 * 8 + lane % 4 + (lane < 16 ? 0 : 4), i};
  const int per_register = s.operand_bits >= 32 ? 1 : 32 / s.operand_bits;
  const int r = i / per_register, group = lane % 32 / 4, thread = lane % 4, warp_row = lane / 32 * 16;
  const int halves = s.m == 8 ? 1 : 2;  // registers alternate between rows g and g + 8
  return {warp_row + group + (r % halves) * 8,
          r / halves * 4 * per_register + thread * per_register + i % per_register};
}

/// k and column of element i of b (mma only).
MMAFUZZ_HD constexpr Place b_place(const TileShape& s, int lane, int i) {
  if (s.matrices == 4) return {i, (lane % 16) / 4 * 8 + lane % 4 + (lane < 16 ? 0 : 4)};
  const int per_register = s.operand_bits >= 32 ? 1 : 32 / s.operand_bits;
  return {i / per_register * 4 * per_register + lane % 4 * per_register + i % per_register, lane / 4};
}

/// Row and column of element i of c (bits = c_bits) or d (bits = d_bits).
MMAFUZZ_HD constexpr Place c_place(const TileShape& s, int bits, int lane, int i) {
  if (s.matrices == 4) {
    const int base = (lane % 16) / 4 * 8 + (lane < 16 ? 0 : 4);
    if (bits == 16) return {base + lane % 4, i};
    return {base + lane % 2 + (i & 2), (i & 4) + (lane & 2) + (i & 1)};
  }
  return {lane / 32 * 16 + lane % 32 / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

/// Byte of b(k, column) in wgmma's shared memory: core matrices of 8 columns x 16 bytes, those of one column group
/// adjacent along k. Source: PTX ISA, "Shared memory matrix layout", K-major, no swizzle; LBO is the step along k, SBO
/// along columns.
inline constexpr int core_matrix_bytes = 128;
MMAFUZZ_HD constexpr int b_shared_byte(const TileShape& s, int k, int column) {
  const int byte = k * s.operand_bytes(), along_k = s.k * s.operand_bytes() / 16;
  return (column / 8 * along_k + byte / 16) * core_matrix_bytes + column % 8 * 16 + byte % 16;
}

/// The row of a, or column of b, whose scales a lane provides with thread and byte selectors 0; all lanes of a quad
/// hold one, those that are not selected hold copies. Source: PTX ISA, "Block scaling for mma.sync".
MMAFUZZ_HD constexpr int scale_row_of_lane(int lane) { return lane / 4 + lane % 2 * 8; }
MMAFUZZ_HD constexpr int scale_column_of_lane(int lane) { return lane / 4; }

}  // namespace mmafuzz
