// Why two units differ on a case, or why a unit breaks a property on it: the smallest set of replaced parameters that
// makes the difference go away. Of equally small sets the first in the order of the parameters (docs/triage.md).
#pragma once

#include <memory>

#include "triage/judge.h"

namespace mmafuzz {

/// How causes of one kind of op are found and said.
class CauseMethod {
 public:
  virtual ~CauseMethod() = default;
  virtual std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) = 0;
  virtual std::string detail_of_one(const std::string& name) const = 0;
  /// The fact of a word of a cause.
  virtual std::string fact_of_one(const std::string& name) const = 0;
};

/// Finds causes for the cases of one bucket key. Keeps the replaced units that it made; one thread at a time.
class Causes {
 public:
  /// The judge and the registry must outlive it.
  Causes(const Judge& judge, const Registry& registry);

  /// One cause per case, of cases on which the judge says `verdicts`: names in the order of the parameters,
  /// comma-separated, or `unexplained`.
  std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts);

  /// The cause for people, with the values on both sides.
  std::string detail(const std::string& cause) const;

  /// The facts that the cause consists of (triage/facts/fact_name.h), each once.
  std::vector<std::string> facts(const std::string& cause) const;

 private:
  const Judge& judge_;
  std::unique_ptr<CauseMethod> method_;
};

}  // namespace mmafuzz
