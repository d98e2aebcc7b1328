#include "identify/evidence.h"

#include <algorithm>

#include "arithmetic/evaluate_dot.h"

namespace mmafuzz {
DotCases::DotCases(const Op& op) : op_(op), stride_(size_t(2 * op.k + 1 + 2 * op.scales())) {}

void DotCases::add(const Batch& batch, size_t index) {
  encodings_.resize(encodings_.size() + stride_);
  uint64_t* to = encodings_.data() + size_ * stride_;
  for (const Column& column : batch.inputs()) {
    column.unpack(index, to);
    to += column.count();
  }
  ++size_;
}

DotOperands DotCases::operands(size_t index) const {
  const uint64_t* at = encodings_.data() + index * stride_;
  DotOperands in;
  in.k = op_.k;
  in.a = at;
  in.b = at + op_.k;
  in.c = at[2 * op_.k];
  in.scale_a = at + 2 * op_.k + 1;
  in.scale_b = in.scale_a + op_.scales();
  return in;
}

void DotCases::pack(size_t index, Batch& batch, size_t to) const {
  const uint64_t* from = encodings_.data() + index * stride_;
  for (Column& column : batch.inputs()) {
    column.pack(to, from);
    from += column.count();
  }
}

Batch DotCases::one(size_t index) const {
  Batch batch(op_, 1);
  pack(index, batch, 0);
  return batch;
}

uint64_t ResultsOfRow::at(size_t place) {
  constexpr size_t one_by_one = 8, max_at_once = 256;
  if (place >= one_by_one && !unit_) {
    unit_.emplace(row_, cases_.op());
    batch_ = Batch(cases_.op());
  }
  if (!unit_ || !unit_->has_vector_code()) return evaluate_dot(row_, cases_.operands(index(place)));
  if (place >= first_ + computed_) {
    computed_ = std::min({std::max(4 * one_by_one, 2 * computed_), max_at_once, cases_.size() - place});
    first_ = place;
    batch_.resize(computed_);
    for (size_t i = 0; i < computed_; ++i) cases_.pack(index(place + i), batch_, i);
    unit_->run(batch_, outcomes_);
  }
  return outcomes_.results.get(place - first_);
}

void Evidence::add(const Batch& batch, size_t index, uint64_t answer, size_t question) {
  const auto [at, is_new] = known_.try_emplace(batch.bytes_of(index), size());
  if (!is_new) {
    if (!same_result(op(), answers_[at->second], answer)) two_answers_ = {at->second, answer};
    return;
  }
  order_.push_back(static_cast<uint32_t>(size()));
  cases_.add(batch, index);
  answers_.push_back(answer);
  questions_.push_back(question);
}

size_t Evidence::mismatches(const DotModel& model, size_t limit) const {
  size_t count = 0;
  ResultsOfRow results(model, cases_, &order_);
  for (size_t i = 0; i < order_.size(); ++i) {
    work_ += static_cast<uint64_t>(op().k) + 8;
    const size_t index = order_[i];
    if (same_result(op(), results.at(i), answers_[index])) continue;
    // Half-way to the front, among positions whose results are no longer asked for: a case that contradicts many rows
    // comes to the front soon, and one row alone does not disturb the order much.
    std::swap(order_[i], order_[i / 2]);
    if (++count >= limit) break;
  }
  return count;
}

std::optional<size_t> Evidence::first_mismatch(const DotModel& model) const {
  ResultsOfRow results(model, cases_);
  for (size_t i = 0; i < size(); ++i)
    if (!same_result(op(), results.at(i), answers_[i])) return i;
  return std::nullopt;
}

}  // namespace mmafuzz
