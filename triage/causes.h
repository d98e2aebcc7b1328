// Why two units differ on a case, or why a unit breaks a property on it: the smallest set of replaced parameters that
// makes the divergence go away. Among sets of that size, the first in the order of the parameters (docs/triage.md).
#pragma once

#include <memory>

#include "triage/judge.h"

namespace mmafuzz {

/// How causes are found and described for one kind of op.
class CauseMethod {
 public:
  virtual ~CauseMethod() = default;
  /// As Causes::find(), of which this is the main part.
  virtual std::vector<std::string> find(const Batch& cases, const std::vector<Verdict>& verdicts) = 0;
  /// For people, of one of the comma-separated names of a cause.
  virtual std::string detail_of_one(const std::string& name) const = 0;
  /// The name of the fact of one of the comma-separated names of a cause.
  virtual std::string fact_of_one(const std::string& name) const = 0;
};

/// Finds causes for the cases of one bucket key. Keeps units with replaced parameters. Not thread-safe.
class Causes {
 public:
  /// The judge and the registry must outlive this object.
  Causes(const Judge& judge, const Registry& registry);

  /// One cause per case: names in the order of the parameters, comma-separated, or `unexplained`. `verdicts`: what the
  /// judge says of each case.
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
