// Code coverage of the scalar kernels as a search's feedback: what an engine sees without functional coverage. It
// exists to be compared with (mmafuzz bench search).
#pragma once

#include "search/feedback.h"

namespace mmafuzz {

/// Edges of evaluate_dot on `model` with eight classes of how often each was taken, as libFuzzer counts them.
std::unique_ptr<Feedback> make_code_feedback(const Op& op, const DotModel& model);

}  // namespace mmafuzz
