// Fragment layouts: every operand element and every output cell is held exactly once, where PTX's formulas say; and the
// host twins of the kernels give what the models give, wherever in a tile a case stands.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "gpu_bridge/instructions/instructions.h"
#include "gpu_bridge/tiles/tile_memory.h"

namespace mmafuzz {
namespace {

using Position = std::pair<int, int>;

/// Distinct shapes that have fragments of their own.
std::vector<Instruction> with_fragments() {
  std::vector<Instruction> found;
  for (const Instruction& i : instructions())
    if (i.shape.family != TileFamily::wmma) found.push_back(i);
  return found;
}

TEST(Fragments, EveryElementOfAIsHeldOnce) {
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    std::set<Position> seen;
    for (int lane = 0; lane < s.lanes(); ++lane)
      for (int e = 0; e < s.a_elements(); ++e) {
        const Place p = a_place(s, lane, e);
        ASSERT_TRUE(p.row >= 0 && p.row < s.rows() && p.column >= 0 && p.column < s.k) << i.name;
        EXPECT_TRUE(seen.insert({p.row, p.column}).second) << i.name << " lane " << lane << " element " << e;
      }
    EXPECT_EQ(seen.size(), size_t(s.rows() * s.k)) << i.name;
  }
}

TEST(Fragments, EveryElementOfBIsHeldOnce) {
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    std::set<Position> seen;
    if (s.family == TileFamily::wgmma) continue;
    for (int lane = 0; lane < s.lanes(); ++lane)
      for (int e = 0; e < s.b_elements(); ++e) {
        const Place p = b_place(s, lane, e);
        ASSERT_TRUE(p.column >= 0 && p.column < s.columns() && p.row >= 0 && p.row < s.b_length()) << i.name;
        EXPECT_TRUE(seen.insert({p.row, p.column}).second) << i.name << " lane " << lane << " element " << e;
      }
    EXPECT_EQ(seen.size(), size_t(s.columns() * s.b_length())) << i.name;
  }
}

TEST(Fragments, EveryOutputCellIsHeldOnce) {
  for (const Instruction& i : with_fragments())
    for (const int bits : {i.shape.c_bits, i.shape.d_bits}) {
      const TileShape& s = i.shape;
      std::set<Position> seen;
      for (int lane = 0; lane < s.lanes(); ++lane)
        for (int e = 0; e < s.c_elements(); ++e) {
          const Place p = c_place(s, bits, lane, e);
          ASSERT_TRUE(p.row >= 0 && p.row < s.rows() && p.column >= 0 && p.column < s.n) << i.name;
          EXPECT_TRUE(seen.insert({p.row, p.column}).second) << i.name << " lane " << lane << " element " << e;
        }
      EXPECT_EQ(seen.size(), size_t(s.cells())) << i.name;
    }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16 ..." and its siblings, each shape's formulas as that section gives them.
Position ptx_a(const std::string& shape, int bits, int lane, int i) {
  const int group = lane >> 2, thread = lane % 4;
  if (shape == "m8n8k4" && bits == 16) return {lane % 4 + (lane < 16 ? 0 : 4), i};
  if (shape == "m8n8k4") return {group, thread};
  if (shape == "m8n8k16") return {group, thread * 4 + i};
  if (shape == "m16n8k4") return {i == 0 ? group : group + 8, thread};
  if (shape == "m16n8k8" && bits == 16) return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
  if (shape == "m16n8k8") return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
  if (shape == "m16n8k16" && bits == 64)
    return {i % 2 == 0 ? group : group + 8, i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
  if (shape == "m16n8k16" && bits == 16)
    return {i < 2 || (i >= 4 && i < 6) ? group : group + 8, thread * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  if (shape == "m16n8k16") return {i < 4 ? group : group + 8, thread * 4 + (i & 3)};
  if (shape == "m16n8k32")
    return {i < 4 || (i >= 8 && i < 12) ? group : group + 8, thread * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  if (shape == "m16n8k64")
    return {i < 8 || (i >= 16 && i < 24) ? group : group + 8, thread * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  return {-1, -1};
}

Position ptx_b(const std::string& shape, int bits, int lane, int i) {
  const int group = lane >> 2, thread = lane % 4;
  if (shape == "m8n8k4" && bits == 16) return {i, lane % 4 + (lane < 16 ? 0 : 4)};
  if (shape == "m8n8k4" || shape == "m16n8k4") return {thread, group};
  if (shape == "m8n8k16") return {thread * 4 + i, group};
  if (shape == "m16n8k8" && bits == 16) return {thread * 2 + i, group};
  if (shape == "m16n8k8") return {i == 0 ? thread : thread + 4, group};
  if (shape == "m16n8k16" && bits >= 32) return {thread + i * 4, group};  // of 32 bits: sparse
  if (shape == "m16n8k16" && bits == 16) return {thread * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
  if (shape == "m16n8k16") return {thread * 4 + i, group};
  if (shape == "m16n8k32" && bits == 16) return {thread * 2 + (i & 1) + i / 2 * 8, group};  // sparse
  if (shape == "m16n8k32") return {thread * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
  if (shape == "m16n8k64" && bits == 8) return {thread * 4 + (i & 3) + i / 4 * 16, group};  // sparse
  if (shape == "m16n8k64") return {thread * 8 + (i & 7) + (i < 8 ? 0 : 32), group};
  return {-1, -1};
}

TEST(Fragments, AgreeWithTheFormulasOfPtx) {
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    if (s.family != TileFamily::mma) continue;
    const std::string sizes = "m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k";
    const std::string shape_of_a = sizes + std::to_string(s.k), shape_of_b = sizes + std::to_string(s.b_length());
    for (int lane = 0; lane < 32; ++lane) {
      const int matrix = s.matrices == 4 ? lane % 16 / 4 : 0;  // quad pairs 0-3 with 16-19, 4-7 with 20-23, ...
      for (int e = 0; e < s.a_elements(); ++e) {
        const Place p = a_place(s, lane, e);
        EXPECT_EQ(Position(p.row - matrix * 8, p.column), ptx_a(shape_of_a, s.operand_bits, lane, e))
            << i.name << " a" << e << " of lane " << lane;
      }
      for (int e = 0; e < s.b_elements(); ++e) {
        const Place p = b_place(s, lane, e);
        EXPECT_EQ(Position(p.row, p.column - matrix * 8), ptx_b(shape_of_b, s.operand_bits, lane, e))
            << i.name << " b" << e << " of lane " << lane;
      }
      for (int e = 0; e < s.c_elements(); ++e) {
        Position expected = {(lane >> 2) + (e < 2 ? 0 : 8), lane % 4 * 2 + (e & 1)};
        if (s.matrices == 4 && s.d_bits == 16) expected = {lane % 4 + (lane < 16 ? 0 : 4), e};
        if (s.matrices == 4 && s.d_bits == 32)
          expected = {(lane & 1) + (e & 2) + (lane < 16 ? 0 : 4), (e & 4) + (lane & 2) + (e & 1)};
        const Place p = c_place(s, s.d_bits, lane, e);
        EXPECT_EQ(Position(p.row - matrix * 8, p.column), expected) << i.name << " d" << e << " of lane " << lane;
      }
    }
  }
}

/// PTX ISA, register fragments of wgmma: a of m64k16 and its siblings, d of m64nN.
TEST(Fragments, WgmmaAgreesWithTheFormulasOfPtx) {
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    if (s.family != TileFamily::wgmma) continue;
    for (int lane = 0; lane < 128; ++lane) {
      const int warp = lane / 32, group = lane % 32 / 4, thread = lane % 4;
      for (int e = 0; e < s.a_elements(); ++e) {
        Position expected;
        switch (s.operand_bits) {
          case 32: expected = {e % 2 == 0 ? group : group + 8, thread + (e < 2 ? 0 : 4)}; break;
          case 16: expected = {e % 4 < 2 ? group : group + 8, thread * 2 + e % 2 + (e < 4 ? 0 : 8)}; break;
          default: expected = {e % 8 < 4 ? group : group + 8, thread * 4 + e % 4 + (e < 8 ? 0 : 16)};
        }
        const Place p = a_place(s, lane, e);
        EXPECT_EQ(Position(p.row - 16 * warp, p.column), expected) << i.name;
      }
      for (int e = 0; e < s.c_elements(); ++e) {
        const Place p = c_place(s, s.d_bits, lane, e);
        EXPECT_EQ(Position(p.row, p.column),
                  Position(16 * warp + group + (e % 4 < 2 ? 0 : 8), e / 4 * 8 + thread * 2 + e % 2))
            << i.name;
      }
    }
  }
}

/// PTX ISA, "Shared memory matrix layout" without swizzle: core matrices of 8 x 16 bytes that lie together.
TEST(Fragments, SharedOperandsOfWgmmaLieInCoreMatrices) {
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    if (s.family != TileFamily::wgmma) continue;
    for (const bool is_a : {false, true})
      for (const bool transposed : {false, true}) {
        if (transposed && s.operand_bits != 16) continue;
        const SharedOperand o = shared_operand(s, is_a, transposed);
        const int bytes = s.operand_bytes(), per_row = 16 / bytes;
        std::set<int> seen;
        for (int vector = 0; vector < o.vectors; ++vector)
          for (int k = 0; k < o.k; ++k)
            for (int j = 0; j < bytes; ++j) EXPECT_TRUE(seen.insert(o.byte_of(k, vector) + j).second) << i.name;
        EXPECT_EQ(*seen.begin(), 0);
        EXPECT_EQ(*seen.rbegin(), o.vectors * o.k * bytes - 1) << i.name;
        // The first core matrix: rows of 16 bytes, of one vector along k, or of one k along the vectors.
        EXPECT_EQ(o.byte_of(transposed ? 1 : 0, transposed ? 0 : 1), 16) << i.name;
        EXPECT_EQ(o.byte_of(transposed ? 0 : per_row - 1, transposed ? 7 : 0), 16 - bytes) << i.name;
        EXPECT_EQ(o.byte_of(transposed ? 7 : per_row - 1, 7), 128 - bytes) << i.name;
        // The next ones are where the descriptor says.
        EXPECT_EQ(o.byte_of(transposed ? 8 : per_row, 0), o.along_k()) << i.name;
        if (o.vectors > 8) {
          EXPECT_EQ(o.byte_of(0, 8), o.along_vectors()) << i.name;
        }
      }
  }
}

/// Each row of a finds a choice for each of its neighbours in the metadata of the lanes that selector 0 names: threads
/// 0 and 1 of a quad where 16 choices are 64 bits, thread 0 where they are 32, of 8-bit types threads 0 and 1 or all.
TEST(Fragments, MetadataOfSparseOperandsIsHeldOnce) {
  size_t shapes = 0;
  for (const Instruction& i : with_fragments()) {
    const TileShape& s = i.shape;
    if (s.neighbours == 0) continue;
    ++shapes;
    const int of_row = s.b_length() / s.neighbours, lanes_of_quad = s.rows() * of_row / (8 * s.lanes() / 4);
    std::set<Position> seen;
    for (int lane = 0; lane < s.lanes(); ++lane)
      for (int field = 0; field < 8; ++field) {
        const Place p = metadata_place(s, lane, field);
        ASSERT_TRUE(p.row >= 0 && p.row < s.rows() && p.column >= 0 && p.column < of_row) << i.name;
        if (lane % 4 >= lanes_of_quad) continue;
        EXPECT_TRUE(seen.insert({p.row, p.column}).second) << i.name << " lane " << lane << " field " << field;
      }
    EXPECT_EQ(seen.size(), size_t(s.rows() * of_row)) << i.name;
  }
  EXPECT_GE(shapes, 14u);
}

/// PTX ISA, "Sparse matrix storage": two different places in rising order, of 32-bit types 0100 or 1110; all occur.
TEST(Fragments, ChoicesAreThoseThatPtxDefines) {
  TileShape two_of_four, one_of_two;
  two_of_four.neighbours = 4;
  one_of_two.neighbours = 2;
  std::set<uint32_t> of_four, of_two;
  for (uint64_t tile = 0; tile < 100; ++tile) {
    of_four.insert(choice_of(two_of_four, tile, 0, 0));
    of_two.insert(choice_of(one_of_two, tile, 0, 0));
  }
  std::set<uint32_t> allowed;
  for (uint32_t x = 0; x < 4; ++x)
    for (uint32_t y = x + 1; y < 4; ++y) allowed.insert(y << 2 | x);
  EXPECT_EQ(of_four, allowed);
  EXPECT_EQ(of_two, (std::set<uint32_t>{4, 14}));
}

TEST(Fragments, ScalesComeFromTheLanesThatSelectorZeroNames) {
  // Row g: thread 0 of quad g; row g + 8: thread 1; column g: thread 0.
  for (int g = 0; g < 8; ++g) {
    EXPECT_EQ(scale_row_of_lane(4 * g), g);
    EXPECT_EQ(scale_row_of_lane(4 * g + 1), g + 8);
    EXPECT_EQ(scale_column_of_lane(4 * g), g);
  }
}

}  // namespace
}  // namespace mmafuzz
