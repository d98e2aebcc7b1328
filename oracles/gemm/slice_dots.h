// The dots of digits that make up a product of sliced matrices: their operands as a dot unit reads them, which slices
// are not zero, and many dots in one call of the unit.
#pragma once

#include <bit>
#include <functional>
#include <span>

#include "core/unit.h"
#include "oracles/gemm/split.h"

namespace mmafuzz::gemm {

/// The encodings of all digits that the significand of a slice format holds, positive or negative.
class DigitCodes {
 public:
  explicit DigitCodes(const FormatFields& f);
  uint64_t operator[](int digit) const { return codes_[static_cast<size_t>(digit + offset_)]; }

 private:
  int offset_;
  std::vector<uint64_t> codes_;
};

/// How the k of a product is cut: into blocks that are summed by one slice product each, and these into chunks, the
/// dots of the unit, the last one of which is padded with zeros.
struct InnerCut {
  std::vector<int> blocks;  ///< the index along k of each block's first product, and at last k
  int dot_k = 1;            ///< products of one dot of the unit
  size_t chunks_of(size_t block) const { return size_t((blocks[block + 1] - blocks[block] + dot_k - 1) / dot_k); }
  size_t block_count() const { return blocks.size() - 1; }
};

/// Sliced rows (rows of a or columns of b) as the unit reads them, and which slices of each element are not zero.
class EncodedSlices {
 public:
  /// `bytes`: bytes of an encoding.
  EncodedSlices(const SlicedRows& rows, const InnerCut& cut, const DigitCodes& codes, int bytes);

  /// The operand of one dot of the unit: chunk `chunk` of a block, dot_k encodings. Slices count from 1.
  const uint8_t* operand(int slice, int row, size_t block, size_t chunk) const {
    return &bytes_[((size_t(slice - 1) * size_t(rows_) + size_t(row)) * chunks_ + first_chunk_[block] + chunk) *
                   stride_];
  }
  /// Bit q - 1 of word (q - 1) / 64: slice q of the element is not zero.
  const uint64_t* nonzero(int row, int element) const {
    return &nonzero_[(size_t(row) * size_t(length_) + size_t(element)) * words_];
  }
  /// Bit q - 1: slice q of any element of the block is not zero.
  const uint64_t* nonzero_by_block(int row, size_t block) const {
    return &nonzero_by_block_[(size_t(row) * first_chunk_.size() + block) * words_];
  }
  size_t words() const { return words_; }
  size_t stride() const { return stride_; }

 private:
  int rows_, length_;
  size_t stride_, chunks_ = 0, words_;  ///< bytes of an operand; chunks of a row; words of nonzero() for an element
  std::vector<size_t> first_chunk_;     ///< of each block, among the row's chunks
  std::vector<uint8_t> bytes_;
  std::vector<uint64_t> nonzero_, nonzero_by_block_;  ///< what nonzero() and nonzero_by_block() return
};

/// Dots that wait to be run together, as a call of the unit costs more than a dot. A dot that is longer than the unit's
/// runs as a chain of chunks through c.
class DotQueue {
 public:
  /// What a waiting dot belongs to.
  struct Dot {
    size_t element = 0;   ///< the element of the product
    int weight = 0;       ///< the dot's integer result is multiplied by 2^weight
    int64_t integer = 0;  ///< the exact sum of its digits' products, where the caller wants to compare it
  };
  /// Receives the outcomes of dots, in the order in which they were added.
  using Visit = std::function<void(std::span<const Dot> dots, const Outcomes& outcomes)>;

  /// `unit` and `op` must outlive the queue.
  DotQueue(const Unit& unit, const Op& op, Visit visit);
  /// Adds one dot of `chunks` chunks and returns its slot; the caller writes its operands to a() and b(). May run the
  /// waiting dots first.
  size_t add(size_t chunks, const Dot& dot) {
    if (chunks != chunks_.size() || dots_.size() == room_) make_room(chunks);
    dots_.push_back(dot);
    return dots_.size() - 1;
  }
  uint8_t* a(size_t chunk, size_t slot) { return to_a_[chunk] + slot * stride_; }
  uint8_t* b(size_t chunk, size_t slot) { return to_b_[chunk] + slot * stride_; }
  /// Runs the waiting dots. The destructor does not: the caller must do so at the end.
  void flush();

 private:
  void make_room(size_t chunks);

  const Unit& unit_;
  const Op& op_;
  Visit visit_;
  size_t stride_;               ///< bytes of an operand
  size_t max_dots_, room_ = 0;  ///< dots that one call runs, at most; dots for which the chunks have room
  std::vector<Batch> chunks_;
  std::vector<uint8_t*> to_a_, to_b_;
  std::vector<Dot> dots_;
};

/// The values of dots as fp64 numbers: integers, unless the unit does not sum them exactly.
class DotValues {
 public:
  /// `f` is fp32 or s32, as OzakiGemm::dot_op says.
  DotValues(const FormatFields& f, const Outcomes& outcomes) : integer_(f.integer), results_(outcomes.results.data()) {}
  double operator[](size_t dot) const {
    const auto bits = loaded<uint32_t>(results_ + 4 * dot);
    return integer_ ? static_cast<double>(static_cast<int32_t>(bits)) : double{std::bit_cast<float>(bits)};
  }

 private:
  bool integer_;
  const uint8_t* results_;
};

}  // namespace mmafuzz::gemm
