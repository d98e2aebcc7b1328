// A proof in steps (README.md). The two formulas of a question are walked stage by stage. Where a query proves that
// corresponding nodes (expression.h) of both are equal or opposite, later queries may *cut* there: one new variable
// replaces both nodes, and only what is proven about them is assumed of it. So no query needs more than a few addends.
// The last queries are about the question itself; where they fail, they are repeated with fewer cuts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "prove/formula.h"
#include "prove/solver.h"

namespace mmafuzz::prove {

/// A part of the domain in which a solver may find a witness sooner than in the whole domain.
struct Hint {
  std::string name;
  Expression holds;    ///< one bit: 1 inside this part
  double seconds = 5;  ///< time limit of the query
};

/// A statement about nodes of both formulas. Once it is proven, later queries may cut at `cuts` and assume it.
struct Fact {
  std::string name;
  Expression says;                  ///< one bit: 1 where the statement holds
  std::vector<Expression> cuts;     ///< nodes that are not cut while the fact is proven; cuts afterwards
  std::vector<Expression> not_cut;  ///< further nodes that are not cut while the fact is proven
  bool by_cases = false;            ///< whether the proof is split into the question's `cases`
};

/// Asks whether `violated` can be 1 where all assumptions are 1: unsat is a proof, sat has a witness.
struct Question {
  std::string text;  ///< "sign_symmetry of model:..."
  std::vector<Expression> variables;
  std::vector<Expression> assumptions;  ///< one bit each: 1 on the domain
  Expression violated;                  ///< one bit: 1 where the statement fails
  std::vector<Hint> hints;
  std::vector<Stage> first, second;  ///< stage i of one formula and stage i of the other; of equal length, may be empty
  std::vector<Fact> facts = {};      ///< in the order in which they are proven
  /// A case split, one bit for each case. One query asks for a violation outside all cases, then one for each case.
  std::vector<Expression> cases = {};
  std::vector<Expression> not_cut = {};  ///< nodes that are not cut in the queries about `violated`
};

/// One query of a proof, with the solver that answered it.
struct ProofStep {
  std::string name;
  std::string solver;  ///< "bitwuzla 0.9.1"
  double seconds = 0;  ///< time to the answer
};

enum class Outcome { proven, witness, unknown };

struct Proof {
  Outcome outcome = Outcome::unknown;
  std::vector<ProofStep> steps;  ///< the queries that were answered unsat; where there is a witness, its sat last
  std::map<std::string, Bits> witness;  ///< by the names of the question's variables; one that is missing is arbitrary
  std::string reason;                   ///< why the outcome is unknown
  double seconds = 0;                   ///< time of the whole proof
  bool confirmed = false;               ///< whether it is proven, and a second solver confirmed each unsat
};

struct ProofOptions {
  double seconds = 300;     ///< for the whole question, all its lemmas included
  double spent = 0;         ///< how many of `seconds` earlier lemmas or queries of the question took
  bool confirm = false;     ///< whether a second solver has to confirm each unsat
  bool in_steps = true;     ///< false: no stages and no facts are proven, nothing is cut
  bool only_hints = false;  ///< looks for a witness in the hints, and for no proof
  std::function<void(const std::string&)> progress = [](const std::string&) {};
  std::function<void(const std::string& name, const std::string& smt_lib)> emit;  ///< if set, called with each query
};

/// Proof::reason where the time ended: "no answer in 300 s".
std::string no_answer_in(const ProofOptions& options);

/// Each sample has one value for each of the question's variables, in their order; a sample that breaks an assumption
/// is left out. Samples prove nothing: a solver is asked for a relation of two nodes only if it holds on all samples.
/// Throws Contradiction where two solvers disagree.
Proof prove(Solvers& solvers, const Question& question, const std::vector<std::vector<uint64_t>>& samples,
            const ProofOptions& options);

}  // namespace mmafuzz::prove
