#include "prove/question_parts.h"

#include <algorithm>

#include "arithmetic/kernel_table.h"
#include "core/contradiction.h"

namespace mmafuzz::prove {

Expression rank_of(const FormatFields& f, Expression x) {
  const Expression code = extract(x, f.width - 1, f.ignored_low_bits);
  const int width = code.width() + 1;
  if (!f.has_sign()) return zero_extend(code, width);
  const Expression magnitude = zero_extend(extract(code, code.width() - 2, 0), width);
  return choose(bit(code, code.width() - 1), -magnitude, magnitude);
}

namespace {

/// Some products and c in [1, 2), the other products zero; at most 4 products of any value, the others zero.
std::vector<Hint> hints_of(Expressions& table, const Op& op, const Operands& x) {
  const auto in_binade = [](const FormatFields& f, Expression e) {
    const Number n = decode(f, e);
    return in_first_binade(n) & ~n.negative;
  };
  const auto rest_is_zero = [&](size_t first) {
    std::vector<Expression> none;
    for (size_t i = first; i < x.a.size(); ++i) none.push_back(is_zero(x.a[i]) & is_zero(x.b[i]));
    return all_of(table, none);
  };
  std::vector<Hint> hints;
  for (size_t count = x.a.size(); count >= 4; count /= 2) {
    std::vector<Expression> binade = {in_binade(op.c.fields(), x.c), rest_is_zero(count)};
    for (size_t i = 0; i < count; ++i) {
      binade.push_back(in_binade(op.a.fields(), x.a[i]));
      binade.push_back(in_binade(op.b.fields(), x.b[i]));
    }
    hints.push_back({std::to_string(count) + " products of numbers in [1, 2)", all_of(table, binade)});
  }
  for (size_t few = 1; few < x.a.size() && few <= 4; few *= 2)
    hints.push_back({std::to_string(few) + " products", rest_is_zero(few)});
  return hints;
}

}  // namespace

CaseQuestion relate(Expressions& table, const Op& op, const Operands& operands, Formula first, Formula second,
                    Expression holds) {
  CaseQuestion q{op, operands};
  q.question.variables = in_case_order(operands);
  q.question.violated = ~holds;
  q.question.hints = hints_of(table, op, operands);
  bool same_shape = first.stages.size() == second.stages.size();
  for (size_t s = 0; same_shape && s < first.stages.size(); ++s)
    same_shape = first.stages[s].points.size() == second.stages[s].points.size();
  if (!same_shape) return q;
  q.question.first = std::move(first.stages);
  q.question.second = std::move(second.stages);
  return q;
}

const Stage& stage_of(const Formula& f, const std::string& name) {
  for (const Stage& s : f.stages)
    if (s.name == name) return s;
  throw Contradiction("a formula has no stage '" + name + "'");
}
Expression point(const Formula& f, const std::string& stage) { return stage_of(f, stage).points.at(0); }

Number number_in(const Stage& stage) {
  Number n;
  Expression* const members[] = {&n.negative, &n.exponent, &n.significand, &n.zero, &n.infinite, &n.nan};
  for (size_t i = 0; i < std::size(members); ++i) *members[i] = stage.points.at(i);
  return n;
}

int step_of(const DotModel& m) { return has_like_steps(m) ? products_per_step(m) : m.k; }

Block block_of(const Op& op, const DotModel& m) {
  Block block{op, m};
  block.op.k = std::min(op.k, step_of(m));
  block.op.nan = NanPolicy::exact;  // the next block may tell NaNs apart
  if (block.op.k == step_of(m)) block.model.k = step_of(m);
  return block;
}

bool has_like_blocks(const Op& op, const DotModel& m) {
  const int step = step_of(m);
  // Such an instruction looks for infinities and NaNs once. Its blocks read one in the d of an earlier block as a
  // number.
  if (m.special_scope == SpecialScope::whole_k && m.k > step) return false;
  if (op.k < step || (op.k == step && m.k == step)) return true;  // block_of() is the whole dot
  // A scale that ends inside a block ends elsewhere inside another one.
  if (m.scale_block > 0 && step % m.scale_block != 0 && m.scale_block % step != 0) return false;
  return op.c == op.d && op.k % step == 0 && m.k % step == 0;
}

bool has_contiguous_blocks(const DotModel& m) {
  const int step = step_of(m);
  if (step == m.k) return true;
  switch (m.order) {
    case ProductOrder::ascending:
    case ProductOrder::descending:
    case ProductOrder::halves_in_turn: return true;
    case ProductOrder::swapped_pairs: return step % 2 == 0;
    case ProductOrder::interleaved: break;
  }
  return false;
}

}  // namespace mmafuzz::prove
