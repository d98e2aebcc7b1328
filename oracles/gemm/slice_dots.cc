#include "oracles/gemm/slice_dots.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "arithmetic/round.h"
#include "oracles/gemm/width.h"

namespace mmafuzz::gemm {

DigitCodes::DigitCodes(const FormatFields& f) : offset_((1 << digit_bits(f)) - 1) {
  for (int digit = -offset_; digit <= offset_; ++digit)
    codes_.push_back(f.integer ? static_cast<uint64_t>(int64_t{digit}) & f.container_mask()
                               : round_once(f, digit < 0, uint64_t(std::abs(digit)), /*exponent=*/0).encoding);
}

EncodedSlices::EncodedSlices(const SlicedRows& rows, const InnerCut& cut, const DigitCodes& codes, int bytes)
    : rows_(rows.rows),
      length_(rows.length),
      stride_(size_t(bytes) * size_t(cut.dot_k)),
      words_(size_t(std::max(rows.slices, 1) + 63) / 64) {
  for (size_t block = 0; block < cut.block_count(); ++block) {
    first_chunk_.push_back(chunks_);
    chunks_ += cut.chunks_of(block);
  }
  bytes_.assign(size_t(rows.slices) * size_t(rows_) * chunks_ * stride_, 0);  // a zero's encoding is 0
  nonzero_.assign(size_t(rows_) * size_t(length_) * words_, 0);
  nonzero_by_block_.assign(size_t(rows_) * std::max<size_t>(1, cut.block_count()) * words_, 0);
  for (int slice = 1; slice <= rows.slices; ++slice) {
    for (int row = 0; row < rows_; ++row) {
      if (!rows.is_filled(slice, row)) continue;
      const int16_t* digits = rows.slice(slice, row);
      const size_t word = size_t(slice - 1) / 64;
      const uint64_t bit = uint64_t{1} << ((slice - 1) & 63);
      for (size_t block = 0; block < cut.block_count(); ++block) {
        uint8_t* operand =
            &bytes_[((size_t(slice - 1) * size_t(rows_) + size_t(row)) * chunks_ + first_chunk_[block]) * stride_];
        bool has_nonzero = false;
        for (int element = cut.blocks[block]; element < cut.blocks[block + 1]; ++element, operand += bytes) {
          if (digits[element] == 0) continue;
          const uint64_t code = codes[digits[element]];
          std::memcpy(operand, &code, size_t(bytes));
          nonzero_[(size_t(row) * size_t(length_) + size_t(element)) * words_ + word] |= bit;
          has_nonzero = true;
        }
        if (has_nonzero) nonzero_by_block_[(size_t(row) * cut.block_count() + block) * words_ + word] |= bit;
      }
    }
  }
}

namespace {

/// How many dots one call runs: for a device so many that they cost more than the call, else as many as fit in the
/// cache.
size_t max_dots(const Unit& unit, size_t stride) {
  constexpr size_t device_dots = size_t{1} << 16, cached_bytes = size_t{1} << 15;
  if (unit.role() == Role::device) return device_dots;
  return std::clamp<size_t>(cached_bytes / stride, 64, 4096);
}

}  // namespace

DotQueue::DotQueue(const Unit& unit, const Op& op, Visit visit)
    : unit_(unit),
      op_(op),
      visit_(std::move(visit)),
      stride_(size_t(op.a.storage_bytes()) * size_t(op.k)),
      max_dots_(max_dots(unit, stride_)) {}

void DotQueue::make_room(size_t chunks) {
  if (chunks != chunks_.size() || dots_.size() == max_dots_) flush();
  while (chunks_.size() < chunks) chunks_.emplace_back(op_);
  chunks_.resize(chunks);
  // The room doubles from 256 dots on, so that few dots do not take the memory of max_dots_.
  room_ = std::min(max_dots_, std::max<size_t>(256, 2 * dots_.size()));
  to_a_.clear();
  to_b_.clear();
  for (Batch& chunk : chunks_) {
    chunk.resize(room_);
    to_a_.push_back(chunk.inputs()[0].data());
    to_b_.push_back(chunk.inputs()[1].data());
  }
}

void DotQueue::flush() {
  if (dots_.empty()) return;
  Outcomes outcomes;
  std::vector<uint8_t> answered;  // empty, as in Outcomes: all dots are answered
  for (size_t i = 0; i < chunks_.size(); ++i) {
    chunks_[i].resize(dots_.size());
    // c of the first chunk stays zero; that of the others is the result of the one before.
    if (i > 0) std::swap(chunks_[i].inputs()[2], outcomes.results);
    unit_.run(chunks_[i], outcomes);
    if (outcomes.answered.empty()) continue;
    if (answered.empty()) answered.assign(dots_.size(), 1);
    for (size_t dot = 0; dot < dots_.size(); ++dot) answered[dot] &= outcomes.answered[dot];
  }
  outcomes.answered = std::move(answered);
  visit_(dots_, outcomes);
  room_ = dots_.size();
  dots_.clear();
}

}  // namespace mmafuzz::gemm
