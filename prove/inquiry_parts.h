// What the implementations of inquiry.h share.
#pragma once

#include "core/unit.h"
#include "prove/inquiry.h"

namespace mmafuzz::prove {

/// The op that the options name, or that of the unit's row. Throws BadInput where there is neither.
Op op_of(const std::string& unit, const InquiryOptions& options);

/// A unit bound to a dot op, whose row has a formula.
struct Subject {
  std::unique_ptr<Unit> unit;
  const DotModel& model() const { return *unit->model(); }
};
/// Throws BadInput where there is no such unit or it has no row.
Subject subject(const std::string& name, const Op& op);

/// The unit's result on the only case of a batch, as the hexadecimal encoding.
std::string result_of(const Unit& unit, const Batch& batch);

/// Throws Contradiction: the units do not show what the reply's witness says.
[[noreturn]] void refuse_witness(const Reply& reply);

/// Makes a question and proves it in the time that is left: rest.proof.seconds - rest.proof.spent. Adds the time that
/// this took to rest.proof.spent. A witness is not replayed yet.
Reply put_question(Solvers& solvers, const MakeQuestion& make, const std::string& statement, const Op& op,
                   InquiryOptions& rest);

/// Proves the lemmas if `lemmas_apply`. Where a lemma is not proven or there is none, puts the whole question, if there
/// is one, in the time that is left. A witness is not replayed yet. `text` is the statement.
Reply ask_in_lemmas(Solvers& solvers, const PropertyQuestion& asked, const std::string& text, const Op& op,
                    bool lemmas_apply, const InquiryOptions& options);

}  // namespace mmafuzz::prove
