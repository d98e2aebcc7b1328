// What the inquiries share.
#pragma once

#include "core/unit.h"
#include "prove/inquiry.h"

namespace mmafuzz::prove {

/// The op that was named, or that of the unit's row.
Op op_of(const std::string& unit, const InquiryOptions& options);

/// A unit that has a row and a formula.
struct Subject {
  std::unique_ptr<Unit> unit;
  const DotModel& model() const { return *unit->model(); }
};
Subject subject(const std::string& name, const Op& op);

/// Of the only case of a batch.
std::string result_of(const Unit& unit, const Batch& batch);

[[noreturn]] void refuse_witness(const Reply& f);

/// Puts a question in the time that is left of `rest`, and takes what it needed off it.
Reply put(Solvers& solvers, const MakeQuestion& make, const std::string& statement, const Op& op, InquiryOptions& rest);

/// Lemmas first, then the whole question, if there is one, in the time that is left.
Reply ask_in_lemmas(Solvers& solvers, const PropertyQuestion& asked, const std::string& text, const Op& op,
                    bool lemmas_apply, const InquiryOptions& options);

/// "1 product", "2 products".
std::string products_text(int count);

}  // namespace mmafuzz::prove
