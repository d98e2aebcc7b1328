// Names what a black box computes (docs/identify.md describes the steps): questions, hypotheses that fit the answers,
// further cases on which these differ, and a verification by guided search. A *hypothesis* is a row or a unit without
// parameters. *Neighbours* of a value are the values next to it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "identify/asker.h"
#include "identify/evidence.h"
#include "identify/space.h"
#include "identify/verification.h"

namespace mmafuzz {

enum class IdentifyVerdict {
  identified,  ///< a row or a unit, up to values that no case told apart from the row's
  no_fit,      ///< the answers contradict every hypothesis
  too_few,     ///< the unit did not answer enough
};

/// A hypothesis and an answer that refutes it.
struct Refuted {
  std::string hypothesis;  ///< a unit's name, or the row with one change: "block=8"
  size_t case_index;       ///< of the case in the evidence
  uint64_t instead;        ///< what the hypothesis gives there, as an encoding of d
  size_t mismatches = 1;   ///< answers that it contradicts; counted in Identification::best alone
};

/// Values of a parameter with which the row gives the same answers, and why no case told them apart from its own value.
struct Undetermined {
  std::vector<int64_t> values;
  std::string reason;
  bool is_proven;  ///< whether HypothesisSpace::why_equal() shows that no case can
};

/// What is known of one parameter of the row, or of its kernel.
struct ParameterFinding {
  const Parameter* parameter;
  int64_t value;                    ///< the row's
  std::vector<Refuted> neighbours;  ///< of numbers the nearest refuted value below and above; of words all refuted ones
  size_t refuted = 0;               ///< number of refuted values
  std::vector<Undetermined> undetermined;

  /// All undetermined values that are not proven to compute the same.
  std::vector<int64_t> not_proven() const;
};

/// A question, and what the answers to its cases rule out.
struct ArgumentStep {
  std::string question;
  size_t cases = 0;                ///< asked for it
  size_t telling_case = SIZE_MAX;  ///< index in the evidence of the case that rules out most; SIZE_MAX: none does
  std::string rules_out;           ///< beside the row that was found: "block 1..3; order descending"; may be empty
};

struct Identification {
  explicit Identification(const Op& op) : evidence(op) {}

  IdentifyVerdict verdict = IdentifyVerdict::too_few;
  Evidence evidence;
  std::optional<DotModel> model;  ///< the row that fits; with too_few, one that fits so far
  std::string name;               ///< of this row, "model:custom?...", or of a unit without parameters; may be empty
  std::vector<std::string> equal_units;  ///< if that is a unit without parameters: others that give the same answers
  std::string nearest;                   ///< the nearest row of the catalogue; empty where none has these formats
  std::vector<std::string> nearest_differs;  ///< the parameters in which it differs: "block: 8 there, 4 here"
  std::vector<ParameterFinding> parameters;  ///< first of all the kernel
  std::vector<std::string>
      joint_changes;                 ///< pairs of changes that fit, though not both alone: "overflow=max with ..."
  bool tried_joint_changes = false;  ///< whether the time was enough to try all such pairs
  std::vector<ArgumentStep> steps;   ///< Evidence::question() is an index of them
  std::vector<Refuted> best;         ///< with no_fit: up to four hypotheses, the fewest mismatches first
  std::string reason;                ///< why nothing was identified, or not for sure
  std::optional<Batch> next_cases;   ///< only from identify_from(): further cases that would tell more
  size_t dots = 0, rounds = 0;       ///< asked before the verification; all where nothing was identified
  Verified verified;                 ///< further cases on which it held
  double seconds = 0;
};

struct IdentifySettings {
  uint64_t seed = 1;
  double seconds = 60;             ///< at most
  std::optional<uint64_t> verify;  ///< cases of the verification at most; nullopt: by the length of the dot
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Asks a unit that is bound to a dot op.
Identification identify(const Unit& unit, const Op& op, const IdentifySettings& settings);

/// The same from answers that exist already (a recording, a questionnaire): no unit is asked.
Identification identify_from(Evidence evidence, const IdentifySettings& settings);

/// The answer as text; if `steps` is set, the questions that led to it stand before it. identification_text.cc has this
/// function and the next one, the answer as JSON.
std::string identification_text(const Identification& id, bool steps);
nlohmann::json identification_json(const Identification& id);

}  // namespace mmafuzz
