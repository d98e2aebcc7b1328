#include "search/datapath_state.h"

#include <algorithm>
#include <stdexcept>

#include "arithmetic/bins.h"
#include "search/last_step.h"
#include "search/mutator.h"

namespace mmafuzz {
namespace {

using Kind = DatapathState::Kind;

struct KindText {
  const char* name;
  std::vector<const char*> levels;
};
const std::vector<KindText>& texts() {
  static const std::vector<const char*> values = {"zero", "subnormal", "normal", "infinity", "nan"};
  static const std::vector<const char*> scales = {"zero_or_least", "one", "greatest", "nan", "below_one", "above_one"};
  static const std::vector<KindText> all = {
      {"a", values},
      {"b", values},
      {"place", {"none", "0", "1", "2", "3-4", "5-8", "9-16", "17+", "F-1", "F", "F+1", "F+2", "beyond"}},
      {"sign", {"positive", "negative"}},
      {"cut", {"none", "lowest", "below_half", "half", "above_half", "all_ones"}},
      {"sa", scales},
      {"sb", scales},
      {"greatest", {"none", "c", "product", "c_and_product", "products"}},
      {"size",
       {"none", "zero", "1_below", "2_below", "3-4_below", "5-8_below", "9-16_below", "17+_below", "F-1_below",
        "F_below", "beyond", "0_above", "1_above", "2_above", "3_above", "4_above", "5+_above"}},
      {"lost", {"nothing", "bits", "addends"}},
      {"rest", {"none", "exact", "lowest", "below_half", "half-1", "half", "half+1", "above_half", "all_ones"}},
      {"last", {"even", "odd"}},
      {"result",
       {"+zero", "-zero", "least_subnormal", "subnormal", "greatest_subnormal", "least_normal", "normal", "greatest",
        "infinity", "nan"}},
  };
  if (all.size() != DatapathState::kinds) throw std::logic_error("texts of the factors of a state");
  return all;
}

}  // namespace

const char* DatapathState::name_of(Kind kind) { return texts()[static_cast<size_t>(kind)].name; }
const std::vector<const char*>& DatapathState::levels_of(Kind kind) {
  return texts()[static_cast<size_t>(kind)].levels;
}

DatapathState::DatapathState(const Op& op, const DotModel& model)
    : op_(op), model_(model), dot_(op), aligns_(traits_of(model).aligns()) {
  const CornerHints hints = corner_hints(&model);
  kept_ = hints.fraction_bits;
  block_ = hints.block > 1 ? std::min(hints.block, op.k) : op.k;
  limits_ = make_limits(op, model, kept_, block_);
  for (int lane = 0; lane <= op.k; ++lane) {
    lane_begin_.push_back(factors_.size());
    add(Kind::a, lane);
    if (lane < op.k) add(Kind::b, lane);
    for (const Kind kind : {Kind::place, Kind::sign}) add(kind, lane);
    if (aligns_) add(Kind::cut, lane);
  }
  scales_begin_ = factors_.size();
  for (int block = 0; op.has_scales() && block < op.scales(); ++block) {
    add(Kind::scale_a, block);
    add(Kind::scale_b, block);
  }
  sum_begin_ = factors_.size();
  factor_of_kind_.fill(no_factor);
  for (const Kind kind : {Kind::greatest, Kind::size, Kind::lost, Kind::rest, Kind::last, Kind::result}) {
    if (kind < Kind::rest && !aligns_) continue;
    factor_of_kind_[static_cast<size_t>(kind)] = factors_.size();
    add(kind, 0);
  }
  levels_now_.resize(factors_.size() + 1);
}

void DatapathState::add(Kind kind, int lane) {
  factors_.push_back({kind, lane, levels_});
  levels_ += static_cast<int>(levels_of(kind).size());
}

std::string DatapathState::name_of(const Factor& factor) const {
  std::string name = name_of(factor.kind);
  if (factor.kind >= Kind::greatest) return name;
  if (factor.lane < op_.k || factor.kind > Kind::cut) return name + "[" + std::to_string(factor.lane) + "]";
  return factor.kind == Kind::a ? "c" : name + "[c]";
}

void DatapathState::put_last_step(const LastStep& step) {
  set(Kind::lost, step.lost);
  if (step.rounds) {
    set(Kind::size, step.zero         ? 1
                    : step.above >= 0 ? 11 + std::min(step.above, 5)
                                      : 2 + bins::depth_class(-step.above, kept_));
    set(Kind::rest, 1 + step.remainder);
    set(Kind::last, step.last);
  }
  set(Kind::result, bins::result_value(model_.d, result_fraction_bits(model_), step.result));
}

void DatapathState::set(Kind kind, int level) {
  const size_t factor = factor_of_kind_[static_cast<size_t>(kind)];
  if (factor != no_factor) levels_now_[factor] = static_cast<uint8_t>(level);
}

/// Writes by position: the factors of a lane are a, b, place, sign, cut, those of c are a, place, sign, cut.
const std::vector<uint8_t>& DatapathState::look(const Batch& batch, size_t index) {
  const DotOperands& in = dot_.load(batch, index);
  std::fill(levels_now_.begin(), levels_now_.end(), uint8_t{0});
  for (size_t block = 0; scales_begin_ + 2 * block < sum_begin_; ++block) {
    uint8_t* levels = levels_now_.data() + scales_begin_ + 2 * block;
    levels[0] = static_cast<uint8_t>(bins::scale_kind(model_.scale_a, in.scale_a[block]));
    levels[1] = static_cast<uint8_t>(bins::scale_kind(model_.scale_b, in.scale_b[block]));
  }
  for (int first = 0; first < op_.k; first += block_) {
    const int end = std::min(first + block_, op_.k);
    int greatest = no_exponent, at_greatest = 0;  // at_greatest: products with the greatest exponent
    const auto note_exponent = [&](int exponent) {
      if (exponent <= greatest) return;
      greatest = exponent;
      at_greatest = 0;
    };
    Term term[max_instruction_k + 1], c;
    for (int lane = first; lane < end; ++lane) {
      Term& t = term[lane - first];
      const Number x = decode(read_as(model_, model_.a), in.a[lane]), y = decode(read_as(model_, model_.b), in.b[lane]);
      uint8_t* levels = levels_now_.data() + lane_begin_[static_cast<size_t>(lane)];
      levels[0] = static_cast<uint8_t>(bins::value_kind(x));
      levels[1] = static_cast<uint8_t>(bins::value_kind(y));
      levels[3] = x.negative != y.negative;
      t = product(x, y, in, lane);
      note_exponent(t.exponent);
      at_greatest += t.exponent == greatest;
    }
    if (first == 0) {
      const Number x = decode(model_.c, in.c);
      uint8_t* levels = levels_now_.data() + lane_begin_.back();
      levels[0] = static_cast<uint8_t>(bins::value_kind(x));
      levels[2] = x.negative;
      c = x.cls == NumberClass::finite ? Term{x.significand, x.exponent, x.scale_exponent} : Term{};
      note_exponent(c.exponent);
      const bool c_has_it = c.significand && c.exponent == greatest;
      put_place_and_cut(levels + 1, c, greatest);
      set(Kind::greatest, c_has_it ? (at_greatest ? 3 : 1) : greatest == no_exponent ? 0 : at_greatest > 1 ? 4 : 2);
    }
    for (int lane = first; lane < end; ++lane)
      put_place_and_cut(levels_now_.data() + lane_begin_[static_cast<size_t>(lane)] + 2, term[lane - first], greatest);
  }
  put_last_step(last_step(model_, in));
  return levels_now_;
}

/// Writes the levels of an addend's `place` to levels[0] and of its `cut` to levels[2]; between them is its `sign`.
void DatapathState::put_place_and_cut(uint8_t* levels, const Term& t, int greatest) const {
  if (!t.significand) return;
  levels[0] = static_cast<uint8_t>(1 + bins::shift_class(greatest - t.exponent, kept_));
  if (aligns_) levels[2] = static_cast<uint8_t>(bins::lost_class(t.significand, t.last, greatest - kept_));
}

DatapathState::Term DatapathState::product(const Number& x, const Number& y, const DotOperands& in, int lane) const {
  if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return {};
  Term t{static_cast<uint128>(x.significand) * y.significand, x.exponent + y.exponent,
         x.scale_exponent + y.scale_exponent};
  if (!model_.scale_block) return t;
  const int block = lane / model_.scale_block;
  for (const Number& scale : {decode(model_.scale_a, in.scale_a[block]), decode(model_.scale_b, in.scale_b[block])}) {
    if (scale.cls != NumberClass::finite) return {};
    t.significand *= scale.significand;
    t.last += scale.exponent;
    t.exponent += scale.scale_exponent;
  }
  return t;
}

}  // namespace mmafuzz
