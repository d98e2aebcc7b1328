// What the makers of questions share.
#pragma once

#include "prove/questions.h"

namespace mmafuzz::prove {

/// A result as a number that compares as the results do; both zeros are 0. Not for NaN.
Expression rank_of(const FormatFields& f, Expression x);

/// The question whether two formulas' results stand in a relation, on the same or on transformed operands.
CaseQuestion relate(Expressions& in, const Op& op, const Operands& operands, Formula first, Formula second,
                    Expression holds);

/// A stage by its name, and the first of its points.
const Stage& stage_of(const Formula& f, const std::string& name);
Expression point(const Formula& f, const std::string& stage);

/// Products that a dot takes in one step, whose d is the next step's c.
int step_of(const DotModel& m);

/// The op and the row of one block alone.
struct Block {
  Op op;
  DotModel model;
};
Block block_of(const Op& op, const DotModel& m);

/// Whether every block of a dot of the row is like every other: then what one block keeps, all keep.
bool has_like_blocks(const Op& op, const DotModel& m);

/// Whether the products of every block of the row are neighbours in the operands, in whatever order it takes them.
bool has_contiguous_blocks(const DotModel& m);

/// That a greater c does not lower the result.
PropertyQuestion monotone_in_c(const Op& op, const DotModel& m);

}  // namespace mmafuzz::prove
