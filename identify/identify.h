// Names what a black box computes: questions, hypotheses that fit the answers, cases that tell these apart, and a
// verification by guided search. docs/identify.md describes the steps.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "identify/asker.h"
#include "identify/evidence.h"
#include "identify/space.h"
#include "identify/verification.h"

namespace mmafuzz {

enum class IdentifyVerdict {
  identified,  ///< one row, up to what no case told
  no_fit,      ///< the answers contradict every hypothesis
  too_few,     ///< the unit did not answer enough
};

/// A hypothesis and an answer that refutes it.
struct Refuted {
  std::string hypothesis;  ///< a unit's name, or "block=8"
  size_t case_index;       ///< of the evidence
  uint64_t instead;        ///< what the hypothesis answers there
  size_t mismatches = 1;
};

/// Values of a parameter that give the same answers, and why nothing told them apart.
struct Undetermined {
  std::vector<int64_t> values;
  std::string reason;
  bool proven;  ///< that they compute the same as the row
};

struct ParameterFinding {
  const Parameter* parameter;
  int64_t value;
  std::vector<Refuted> neighbours;  ///< the values next to it; of words all
  size_t refuted = 0;               ///< values in all
  std::vector<Undetermined> undetermined;

  /// Values that no case told apart, and that are not proven to compute the same.
  std::vector<int64_t> not_proven() const;
};

/// One argument: a question, the case that tells most, the answer, what it rules out.
struct ArgumentStep {
  std::string question;
  size_t cases = 0;
  size_t telling_case = SIZE_MAX;
  std::string rules_out;
};

struct Identification {
  explicit Identification(const Op& op) : evidence(op) {}

  IdentifyVerdict verdict = IdentifyVerdict::too_few;
  Evidence evidence;
  std::optional<DotModel> model;  ///< of the row that fits; what is known so far where there are too few answers
  std::string name;               ///< of the unit that it is: "model:custom?...", or a unit without parameters
  std::vector<std::string> also;  ///< of a unit without parameters: others that give the same answers
  std::string nearest;            ///< row of the catalogue; empty where none has these formats
  std::vector<std::string> nearest_differs;
  std::vector<ParameterFinding> parameters;
  std::vector<std::string> together;  ///< two changes that fit together, not each alone: "overflow=max with ..."
  bool tried_together = false;        ///< whether all near changes were tried in pairs
  std::vector<ArgumentStep> steps;
  std::vector<Refuted> best;    ///< where nothing fits: the best hypotheses
  std::string reason;           ///< why there is no name
  std::optional<Batch> next;    ///< where answers were given: further cases that would tell more
  size_t dots = 0, rounds = 0;  ///< asked until the name stood
  Verified verified;            ///< further cases on which it held
  double seconds = 0;
};

struct IdentifySettings {
  uint64_t seed = 1;
  double seconds = 60;             ///< at most
  std::optional<uint64_t> verify;  ///< cases of the verification at most; none: by the length of the dot
  std::function<void(const std::string&)> progress = [](const std::string&) {};
};

/// Asks a unit that is bound to a dot op.
Identification identify(const Unit& unit, const Op& op, const IdentifySettings& settings);

/// The same from answers that are there already (a recording, a questionnaire): nothing is asked.
Identification identify_from(Evidence evidence, const IdentifySettings& settings);

/// The steps, if wanted, then the answer. Defined in identification_text.cc, as is the next one, for programs.
std::string identification_text(const Identification& id, bool steps);
nlohmann::json identification_json(const Identification& id);

}  // namespace mmafuzz
