// What the implementations of questions.h share.
#pragma once

#include "prove/formulas/numbers.h"
#include "prove/questions.h"

namespace mmafuzz::prove {

/// An encoding as an integer in two's complement, in the order of the values: the magnitude bits with their sign. Both
/// zeros have the rank 0. The rank of a NaN means nothing.
Expression rank_of(const FormatFields& f, Expression x);

/// Asks whether `holds` (one bit, a relation of the results of two formulas) is 1 for all values of the operands. The
/// formulas' stages become those of the question if they correspond. The hints are few products, and numbers in [1, 2).
CaseQuestion relate(Expressions& table, const Op& op, const Operands& operands, Formula first, Formula second,
                    Expression holds);

/// The stage of that name. Throws Contradiction where there is none.
const Stage& stage_of(const Formula& f, const std::string& name);
Expression point(const Formula& f, const std::string& stage);  ///< the first of its points
/// The number whose members are the points of a stage (TermDomain::note), without its fraction bits.
Number number_in(const Stage& stage);

/// The number of products of a block, whose d is the next block's c. Where blocks are not alike, a block is a whole
/// instruction.
int step_of(const DotModel& m);

/// One block by itself: an op with its products alone, and a row that computes it as one instruction.
struct Block {
  Op op;
  DotModel model;
};
Block block_of(const Op& op, const DotModel& m);

/// Whether all blocks of a dot of the row compute the same function, so that a lemma about block_of() holds for each.
bool has_like_blocks(const Op& op, const DotModel& m);

/// Whether each block of the row takes products whose indices are consecutive, in any order.
bool has_contiguous_blocks(const DotModel& m);

/// The property monotone_in_c: a greater c does not lower the result.
PropertyQuestion monotone_in_c(const Op& op, const DotModel& m);

}  // namespace mmafuzz::prove
