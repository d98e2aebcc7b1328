// Where this executable's data are.
#pragma once

#include <string>

namespace mmafuzz {

/// The folder of corpora and evidence, of the checkout in which this executable was built or of its installation. A
/// target's seeds are in <target>/seeds there. "" if there is no such folder.
std::string default_corpus_folder();

}  // namespace mmafuzz
