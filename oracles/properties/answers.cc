// The unit answers every case that it is given. A failure means that a process crashed, hung, gave up or sent something
// that is no answer; its cases are kept beside the campaign (docs/processes.md).
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

class Answers final : public Property {
 public:
  Answers() : Property("answers", "the unit answers every case: it does not crash, hang or give up") {}
  /// To units that claim it: those in other processes. A unit in this process answers, or this process ends.
  bool applies(const Op&, const Unit& unit) const override { return unit.claim("answers") != nullptr; }

 protected:
  bool is_about_answering() const override { return true; }
  std::vector<Op> changed_ops(const Op&, const Unit&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Property> make_answers() { return std::make_unique<Answers>(); }

}  // namespace mmafuzz
