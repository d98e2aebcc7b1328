// The shape of one matrix instruction, and the layout of its fragments (the elements that a lane holds): pure functions
// from (lane, element) to (row, column), for host and device. Source: PTX ISA, "Matrix fragments for mma" and "Register
// fragments for wgmma"; elements of a lane are numbered as PTX numbers them, packed from the lowest bits of the lane's
// first register on.
#pragma once

#include "arithmetic/host_device.h"

namespace mmafuzz {

enum class TileFamily : uint8_t {
  mma,    ///< mma.sync: one warp, every operand in registers
  wgmma,  ///< wgmma: four warps, b (and a, where WgmmaModifiers::shared_a says so) in shared memory, without swizzle
  wmma,   ///< the WMMA interface: tiles in memory; the layout of fragments is not specified
};

/// The maximum number of dots in a tile (wgmma m64n256).
inline constexpr int greatest_cells = 64 * 256;

/// The sizes of one instruction. A structural type, so that CUDA kernels can be templates over it. m, n and k are of
/// one matrix; k counts products, which is half of PTX's k where a is sparse.
struct TileShape {
  TileFamily family = TileFamily::mma;
  int m = 0, n = 0, k = 0;
  int operand_bits = 0;          ///< width of an element of a or b in a register: 4, 8, 16, 32 or 64
  int shift_a = 0, shift_b = 0;  ///< position of a narrower encoding in them: e2m1 is in the middle of 8 bits
  int c_bits = 0, d_bits = 0;
  int scales = 0;    ///< per row of a and per column of b; 0: none
  int matrices = 1;  ///< independent matrices in one instruction (m8n8k4 of fp16: 4, by quad pairs)
  /// Sparse a: the size (2 or 4) of the groups of neighbours along k, of which half are multiplied; 0: a is dense.
  int neighbours = 0;

  constexpr bool operator==(const TileShape&) const = default;

  MMAFUZZ_HD constexpr int lanes() const { return family == TileFamily::wgmma ? 128 : 32; }
  MMAFUZZ_HD constexpr int rows() const { return matrices * m; }
  MMAFUZZ_HD constexpr int columns() const { return matrices * n; }
  MMAFUZZ_HD constexpr int cells() const { return matrices * m * n; }
  /// The number of dots with a row and a column of their own.
  MMAFUZZ_HD constexpr int slots() const { return matrices * (m < n ? m : n); }
  /// Bytes of an element of a or b in memory, where those of 4 bits have a byte each.
  MMAFUZZ_HD constexpr int operand_bytes() const { return operand_bits <= 8 ? 1 : operand_bits / 8; }
  MMAFUZZ_HD constexpr int a_elements() const { return rows() * k / lanes(); }
  /// Elements of a column of b.
  MMAFUZZ_HD constexpr int b_length() const { return neighbours ? 2 * k : k; }
  MMAFUZZ_HD constexpr int b_elements() const { return columns() * b_length() / lanes(); }
  MMAFUZZ_HD constexpr int c_elements() const { return cells() / lanes(); }
  MMAFUZZ_HD constexpr int a_registers() const { return (a_elements() * operand_bits + 31) / 32; }
  MMAFUZZ_HD constexpr int b_registers() const { return (b_elements() * operand_bits + 31) / 32; }
  MMAFUZZ_HD constexpr int c_registers() const { return c_elements() * c_bits / 32; }
  MMAFUZZ_HD constexpr int d_registers() const { return c_elements() * d_bits / 32; }
  /// The column of b that a cell of c uses: matrices side by side are independent.
  MMAFUZZ_HD constexpr int b_column(int row, int column) const { return row / m * n + column; }
};

/// The position of an element: in a, row and k; in b, k and column; in c and d, row and column. All from 0.
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

/// The layout of a wgmma operand (`vectors` rows of a or columns of b) in shared memory, without swizzle: core matrices
/// of 8 lines of 16 bytes. A line is 16 bytes of one vector along k, for 8 vectors; transposed (16-bit types), a line
/// is one k of 8 vectors, for 8 values of k. Source: PTX ISA, "Shared memory matrix layout" and "Strides"; CUTLASS,
/// cute/arch/mma_sm90_desc.hpp, canonical layouts INTERLEAVE.
struct SharedOperand {
  int k, bytes, vectors;  ///< elements of a vector, bytes of an element, number of vectors
  bool transposed;

  static constexpr int core_bytes = 128;
  /// Bytes from a core matrix to the next one along k (the descriptor's leading offset) ...
  MMAFUZZ_HD constexpr int along_k() const { return transposed ? vectors / 8 * core_bytes : core_bytes; }
  /// ... and to the next one of other rows or columns (its stride offset).
  MMAFUZZ_HD constexpr int along_vectors() const { return transposed ? core_bytes : k * bytes / 16 * core_bytes; }
  /// The offset in bytes of element number `index` of a vector.
  MMAFUZZ_HD constexpr int byte_of(int index, int vector) const {
    if (transposed) return index / 8 * along_k() + vector / 8 * along_vectors() + index % 8 * 16 + vector % 8 * bytes;
    return vector / 8 * along_vectors() + index * bytes / 16 * along_k() + vector % 8 * 16 + index * bytes % 16;
  }
};
MMAFUZZ_HD constexpr SharedOperand shared_operand(const TileShape& s, bool is_a, bool transposed) {
  return {is_a ? s.k : s.b_length(), s.operand_bytes(), is_a ? s.rows() : s.columns(), transposed};
}

/// The row, and the number along k of the group of neighbours (as `column`), that field i (4 bits) of a lane's metadata
/// describes. 16- and 32-bit types have row g in fields 0 to 3 and row g + 8 in fields 4 to 7, 8-bit types one row.
/// Source: PTX ISA, "Matrix fragments for multiply-accumulate operation with sparse matrix A"; CUTLASS,
/// cute/atom/mma_traits_sm120_sparse.hpp, ELayout. An operand of mma.sp, the selector, says which of four
/// lanes provide metadata. It is 0 here; the other lanes hold copies.
MMAFUZZ_HD constexpr Place metadata_place(const TileShape& s, int lane, int i) {
  const int row = lane / 32 * 16 + lane % 32 / 4, groups = s.b_length() / s.neighbours;
  if (s.operand_bits == 8) return {row + lane % 2 * 8, (lane / 2 % 2 * 8 + i) % groups};
  return {row + i / 4 * 8, (lane % 2 * 4 + i % 4) % groups};
}

/// The row of a, or column of b, whose scales a lane provides where thread and byte selectors are 0. Every lane of a
/// quad holds one; lanes that are not selected hold copies. Source: PTX ISA, "Block scaling for mma.sync".
MMAFUZZ_HD constexpr int scale_row_of_lane(int lane) { return lane / 4 + lane % 2 * 8; }
MMAFUZZ_HD constexpr int scale_column_of_lane(int lane) { return lane / 4; }

}  // namespace mmafuzz
