// Moves tiles from memory to fragments and back: the load and store code of every matrix instruction, for host and
// device. A tile is the operands and results of one instruction, or of `steps` instructions along k: row-major a,
// column-major b (in both, k runs fastest within a step, steps follow each other), row-major c and d, scales by row and
// by column. An encoding has 1, 2, 4 or 8 bytes.
#pragma once

#include "arithmetic/counter_rng.h"
#include "gpu_bridge/tiles/tile_shape.h"

namespace mmafuzz {

/// Sparse a: the metadata of group number `group` of neighbours along k, random but the same for all rows of a
/// tile. It has two bits for each element that is multiplied: its position among the neighbours (PTX ISA, "Sparse
/// matrix storage"; an element of 32 bits has two positions, of its halves).
MMAFUZZ_HD inline uint32_t choice_of(const TileShape& s, uint64_t tile, int step, int group) {
  CounterRng rng(tile, static_cast<uint64_t>(step * s.k + group));
  constexpr uint32_t two_of_four = 0xe9dc84;  // 0 1, 0 2, 0 3, 1 3, 1 2, 2 3
  return s.neighbours == 2 ? (rng.one_in(2) ? 0xe : 0x4) : two_of_four >> 4 * rng.below(6) & 15;
}

/// The number (0 or 1) of the product of its group that the element of b at position `place` belongs to; -1: to none.
MMAFUZZ_HD constexpr int product_at_place(int neighbours, uint32_t choice, int place) {
  if (neighbours == 2) return (choice == 0xe) == (place == 1) ? 0 : -1;
  return static_cast<int>(choice & 3) == place ? 0 : static_cast<int>(choice >> 2) == place ? 1 : -1;
}

/// Tiles of one instruction in memory that others own. Each pointer is the first tile's; tile_bytes() are the strides.
struct Tiles {
  const uint8_t* a = nullptr;
  const uint8_t* b = nullptr;
  const uint8_t* c = nullptr;
  const uint8_t* scale_a = nullptr;
  const uint8_t* scale_b = nullptr;
  uint8_t* d = nullptr;
  int steps = 1;
  uint64_t number = 0;  ///< of the first tile; with sparse a, tile and step select the elements of b
};

/// The bytes of one tile in each array.
struct TileBytes {
  uint64_t a, b, c, d, scale_a, scale_b;
};
MMAFUZZ_HD constexpr TileBytes tile_bytes(const TileShape& s, int steps) {
  const uint64_t n = static_cast<uint64_t>(steps);
  return {n * uint64_t(s.rows() * s.k * s.operand_bytes()),
          n * uint64_t(s.columns() * s.k * s.operand_bytes()),
          uint64_t(s.cells() * s.c_bits / 8),
          uint64_t(s.cells() * s.d_bits / 8),
          n * uint64_t(s.rows() * s.scales),
          n * uint64_t(s.columns() * s.scales)};
}

/// The tiles after the first `first` ones.
MMAFUZZ_HD inline Tiles tiles_from(const TileShape& s, Tiles t, uint64_t first) {
  const TileBytes bytes = tile_bytes(s, t.steps);
  t.a += first * bytes.a;
  t.b += first * bytes.b;
  t.c += first * bytes.c;
  t.d += first * bytes.d;
  t.scale_a += first * bytes.scale_a;
  t.scale_b += first * bytes.scale_b;
  t.number += first;
  return t;
}

/// Element number `index` of an array of encodings of `bytes` bytes: 1, 2, 4 or 8.
MMAFUZZ_HD inline uint64_t read_element(const uint8_t* array, int bytes, int index) {
  switch (bytes) {
    case 1: return array[index];
    case 2: return reinterpret_cast<const uint16_t*>(array)[index];
    case 4: return reinterpret_cast<const uint32_t*>(array)[index];
    default: return reinterpret_cast<const uint64_t*>(array)[index];
  }
}

MMAFUZZ_HD inline void write_element(uint8_t* array, int bytes, int index, uint64_t value) {
  switch (bytes) {
    case 1: array[index] = static_cast<uint8_t>(value); break;
    case 2: reinterpret_cast<uint16_t*>(array)[index] = static_cast<uint16_t>(value); break;
    case 4: reinterpret_cast<uint32_t*>(array)[index] = static_cast<uint32_t>(value); break;
    default: reinterpret_cast<uint64_t*>(array)[index] = value; break;
  }
}

/// Element i of `bits` bits in a lane's registers, from the lowest bits on. set_field needs zeros there, unless bits =
/// 64.
MMAFUZZ_HD inline void set_field(uint32_t* registers, int bits, int i, uint64_t value) {
  if (bits == 64) {
    registers[2 * i] = static_cast<uint32_t>(value);
    registers[2 * i + 1] = static_cast<uint32_t>(value >> 32);
  } else {
    registers[i * bits / 32] |= static_cast<uint32_t>(value) << (i * bits % 32);
  }
}
MMAFUZZ_HD inline uint64_t get_field(const uint32_t* registers, int bits, int i) {
  if (bits == 64) return registers[2 * i] | static_cast<uint64_t>(registers[2 * i + 1]) << 32;
  return (registers[i * bits / 32] >> (i * bits % 32)) & low_mask(bits);
}

/// Each function below loads or stores the elements of one lane; `step` is the number of the instruction along k, from
/// 0. Elements that are loaded replace the registers' content.
template <TileShape S>
MMAFUZZ_HD void load_a(const Tiles& t, int step, int lane, uint32_t* registers) {
  for (int r = 0; r < S.a_registers(); ++r) registers[r] = 0;
  const uint8_t* a = t.a + step * S.rows() * S.k * S.operand_bytes();
  for (int i = 0; i < S.a_elements(); ++i) {
    const Place p = a_place(S, lane, i);
    set_field(registers, S.operand_bits, i, read_element(a, S.operand_bytes(), p.row * S.k + p.column) << S.shift_a);
  }
}

/// Element number `index` of a column of b, of b_length() elements. Tiles hold only the elements that are multiplied.
/// With sparse a, the others are NaNs (all bits set) or copies of other elements, so that a result that depends on them
/// is wrong.
template <TileShape S>
MMAFUZZ_HD uint64_t element_of_b(const Tiles& t, int step, int column, int index) {
  const uint8_t* b = t.b + (step * S.columns() + column) * S.k * S.operand_bytes();
  if constexpr (S.neighbours != 0) {
    constexpr int kept = S.neighbours / 2;
    const int group = index / S.neighbours,
              product = product_at_place(S.neighbours, choice_of(S, t.number, step, group), index % S.neighbours);
    if (product < 0 && (index + column) % 2) return low_mask(S.operand_bits);
    index = product < 0 ? (index + column) % S.k : group * kept + product;
  }
  return read_element(b, S.operand_bytes(), index);
}

/// The metadata register of a lane: choice_of for eight groups of neighbours, four bits each.
template <TileShape S>
MMAFUZZ_HD uint32_t load_metadata(const Tiles& t, int step, int lane) {
  uint32_t packed = 0;
  for (int i = 0; i < 8; ++i) packed |= choice_of(S, t.number, step, metadata_place(S, lane, i).column) << 4 * i;
  return packed;
}

template <TileShape S>
MMAFUZZ_HD void load_b(const Tiles& t, int step, int lane, uint32_t* registers) {
  for (int r = 0; r < S.b_registers(); ++r) registers[r] = 0;
  for (int i = 0; i < S.b_elements(); ++i) {
    const Place p = b_place(S, lane, i);
    set_field(registers, S.operand_bits, i, element_of_b<S>(t, step, p.column, p.row) << S.shift_b);
  }
}

/// wgmma: writes one lane's share of a or b to shared memory.
template <TileShape S>
MMAFUZZ_HD void share_operand(const Tiles& t, int step, int lane, bool is_a, bool transposed, uint8_t* shared) {
  const SharedOperand layout = shared_operand(S, is_a, transposed);
  const uint8_t* a = t.a + step * layout.vectors * S.k * S.operand_bytes();
  for (int e = lane; e < layout.vectors * layout.k; e += S.lanes()) {
    const int vector = e / layout.k, index = e % layout.k;
    write_element(shared + layout.byte_of(index, vector), S.operand_bytes(), 0,
                  is_a ? read_element(a, S.operand_bytes(), e) : element_of_b<S>(t, step, vector, index));
  }
}

template <TileShape S>
MMAFUZZ_HD void load_c(const Tiles& t, int lane, uint32_t* registers) {
  for (int r = 0; r < S.c_registers(); ++r) registers[r] = 0;
  for (int i = 0; i < S.c_elements(); ++i) {
    const Place p = c_place(S, S.c_bits, lane, i);
    set_field(registers, S.c_bits, i, read_element(t.c, S.c_bits / 8, p.row * S.n + p.column));
  }
}

/// The scales that a lane provides, the first one in the lowest byte; with sparse a, load_scale_a returns the metadata.
template <TileShape S>
MMAFUZZ_HD uint32_t load_scale_a(const Tiles& t, int step, int lane) {
  if constexpr (S.neighbours != 0) return load_metadata<S>(t, step, lane);
  uint32_t packed = 0;
  for (int i = 0; i < S.scales; ++i)
    packed |= uint32_t(t.scale_a[(step * S.rows() + scale_row_of_lane(lane)) * S.scales + i]) << (8 * i);
  return packed;
}
template <TileShape S>
MMAFUZZ_HD uint32_t load_scale_b(const Tiles& t, int step, int lane) {
  uint32_t packed = 0;
  for (int i = 0; i < S.scales; ++i)
    packed |= uint32_t(t.scale_b[(step * S.columns() + scale_column_of_lane(lane)) * S.scales + i]) << (8 * i);
  return packed;
}

template <TileShape S>
MMAFUZZ_HD void store_d(const Tiles& t, int lane, const uint32_t* registers) {
  for (int i = 0; i < S.c_elements(); ++i) {
    const Place p = c_place(S, S.d_bits, lane, i);
    write_element(t.d, S.d_bits / 8, p.row * S.n + p.column, get_field(registers, S.d_bits, i));
  }
}

}  // namespace mmafuzz
