#include "triage/unexplained/block_part.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "core/block_case.h"

namespace mmafuzz {
namespace {

class PartOfBlock final : public Unit {
 public:
  PartOfBlock(const Unit& blocks, const BlockPart& part) : blocks_(blocks), part_(part) {}

  void run(const Batch& parts, Outcomes& outcomes) const override {
    Batch blocks(part_.op, parts.size());
    blocks.inputs() = parts.inputs();
    outcomes = part_.of(blocks_.outcomes_of(blocks));
  }

 private:
  const Unit& blocks_;
  BlockPart part_;
};

/// The positive scale some steps above or below another one, within the format; NaN stays.
uint64_t moved_scale(const FormatFields& f, uint64_t code, int steps) {
  if (steps == 0 || decode(f, code).cls == NumberClass::nan) return code;
  const auto rank = static_cast<int64_t>(scale_rank(f, code)) + steps;
  return scale_at(f, static_cast<uint64_t>(std::clamp<int64_t>(rank, 0, static_cast<int64_t>(greatest_scale_rank(f)))));
}

}  // namespace

std::string BlockPart::name() const {
  if (is_scale()) return "the scale";
  return (quantizes() ? "the code of element " : "the number of element ") + std::to_string(lane());
}

Op BlockPart::op_of_part() const {
  Op of_part = op;
  if (quantizes()) of_part.d = of_part.scale_a = op.result_format(element);
  return of_part;
}

Outcomes BlockPart::of(const Outcomes& blocks) const {
  Outcomes outcomes = blocks;
  outcomes.results = Column(op.result_format(element), 1);
  const size_t count = blocks.results.cases();
  outcomes.results.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const bool any_code = lane() >= 0 && quantizes() && op.nan == NanPolicy::any &&
                          decode(op.scale_a.fields(), blocks.results.get(i)).cls == NumberClass::nan;
    outcomes.results.set(i, 0, any_code ? 0 : blocks.results.get(i, element));
  }
  return outcomes;
}

std::unique_ptr<Unit> part_of(const Unit& blocks, const BlockPart& part) {
  return std::make_unique<PartOfBlock>(blocks, part);
}

std::vector<ModelVariant> effects_on_block(const BlockPart& part) {
  const Op& op = part.op;
  const FormatFields from = op.a.fields();
  const size_t k = static_cast<size_t>(op.k);
  std::vector<ModelVariant> all;
  if (!part.quantizes()) return all;
  // The scale follows from the changed block; a code is of the changed block under the scale of the block as it is.
  const auto add = [&](Stage stage, const std::string& text, int steps, const std::function<void(Operands&)>& change) {
    all.push_back({stage, "", "", "", text, [=](const Batch& cases) {
                     Outcomes outcomes;
                     outcomes.results = Column(part.op.result_format(part.element), 1);
                     outcomes.results.resize(cases.size());
                     const FormatFields& f = part.op.scale_a.fields();
                     QuantizedBlock block(part.op);
                     for (size_t i = 0; i < cases.size(); ++i) {
                       Operands changed(part.op, cases, i);
                       change(changed);
                       const Batch one = changed.as_batch();
                       const uint64_t scale =
                           moved_scale(f, block.scale(part.is_scale() ? one : cases, part.is_scale() ? 0 : i), steps);
                       outcomes.results.set(
                           i, 0, part.is_scale() ? scale : block.code_under(scale, one, 0, part.lane()).encoding);
                     }
                     return outcomes;
                   }});
  };
  add(Stage::sum, "the scale were one step greater", 1, [](Operands&) {});
  add(Stage::sum, "the scale were one step less", -1, [](Operands&) {});
  if (op.has_tensor_scale())
    add(Stage::operands, "the tensor's scale were 1", 0,
        [](Operands& c) { c[c.size() - 1] = encode_near(c.format(c.size() - 1), false, 0, 0); });
  for (const char* name : {"bf16", "fp16"})
    for (const bool cuts : {false, true}) {
      const FormatFields narrow = format(name).fields();
      if (narrow.fraction_bits >= from.fraction_bits) continue;
      const RoundingRule rule = {.rounding = cuts ? Rounding::toward_zero : Rounding::nearest_even};
      add(Stage::operands, std::string("elements were ") + (cuts ? "cut to " : "rounded to ") + name + " first", 0,
          [=](Operands& c) {
            for (size_t i = 0; i < k; ++i)
              c[i] = convert_number(from, decode(narrow, convert_number(narrow, decode(from, c[i]), rule).encoding), {})
                         .encoding;
          });
    }
  if (!part.is_scale()) return all;
  const auto add_fewer = [&](const std::string& text, const std::function<bool(const Operands&, size_t)>& is_left_out) {
    add(Stage::operands, "the scale were that of " + text, 0, [=](Operands& c) {
      for (size_t i = 0; i < k; ++i)
        if (is_left_out(c, i)) c.clear(i);
    });
  };
  add_fewer("the positive elements alone", [from](const Operands& c, size_t i) { return is_negative(from, c[i]); });
  add_fewer("the first half of the block", [k](const Operands&, size_t i) { return 2 * i >= k; });
  add_fewer("the second half of the block", [k](const Operands&, size_t i) { return 2 * i < k; });
  return all;
}

}  // namespace mmafuzz
