// A proof in steps. Two formulas are walked stage by stage; what is proven equal at one stage is one thing for the
// later stages, and may be anything there that its invariants allow. So no step needs more than a few addends, and the
// last step is the question itself (README.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prove/formula.h"
#include "prove/solver.h"

namespace mmafuzz::prove {

/// A part of the domain in which a witness may be found sooner.
struct Hint {
  std::string name;
  Expression holds;    ///< one bit
  double seconds = 5;  ///< for which a witness is sought there
};

/// What is known of places of both formulas together, once a query has proven it: then those places may be cut.
struct Fact {
  std::string name;
  Expression says;                  ///< one bit
  std::vector<Expression> own;      ///< places that stay as they are while it is proven, and may be cut afterwards
  std::vector<Expression> not_cut;  ///< places that stay as they are while it is proven
  bool by_cases = false;            ///< in each of the question's cases
};

/// What is asked: whether the assumptions allow `violated`.
struct Question {
  std::string text;  ///< "sign_symmetry of model:..."
  std::vector<Expression> variables;
  std::vector<Expression> assumptions;  ///< one bit each
  Expression violated;                  ///< one bit
  std::vector<Hint> hints;
  std::vector<Stage> first, second;      ///< stages that correspond, in order; as many of one as of the other, or none
  std::vector<Fact> facts = {};          ///< in the order in which they are proven
  std::vector<Expression> cases = {};    ///< bits; each is looked at alone, then that there is no other
  std::vector<Expression> not_cut = {};  ///< places that stay as they are in the last queries
};

/// One query of a proof.
struct ProofStep {
  std::string name;
  std::string solver;  ///< "bitwuzla 0.9.1"
  double seconds = 0;
};

enum class Outcome { proven, witness, unknown };

struct Proof {
  Outcome outcome = Outcome::unknown;
  std::vector<ProofStep> steps;         ///< queries whose unsat the proof uses; of a witness the sat, last
  std::map<std::string, Bits> witness;  ///< values of the question's variables
  std::string reason;                   ///< of unknown
  double seconds = 0;
  bool confirmed = false;  ///< each unsat by a second solver
};

struct ProofOptions {
  double seconds = 300;  ///< for the whole question
  double spent = 0;      ///< of these, by parts of the question that were put before
  bool confirm = false;
  bool in_steps = true;     ///< false: one query
  bool only_hints = false;  ///< looks for a witness in the hints, and for no proof
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  std::function<void(const std::string& name, const std::string& smt_lib)> emit;  ///< if set: every query
};

/// The reason of an unknown that more time could answer.
std::string no_answer_in(const ProofOptions& options);

/// `samples` are values of the question's variables that the assumptions allow or not; they choose what to try to
/// prove, and prove nothing.
Proof prove(Solvers& solvers, const Question& question, const std::vector<std::vector<uint64_t>>& samples,
            const ProofOptions& options);

}  // namespace mmafuzz::prove
