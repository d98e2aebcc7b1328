// mmafuzz bench distribution: how often the searches draw each value of the upper eight bits of an encoding, for each
// format as factor, as c and as scale. The table of docs/coverage.md is this command's output.
#include <fmt/core.h>

#include <algorithm>

#include "bench/bench.h"
#include "search/guided_search.h"

namespace mmafuzz {
namespace {

struct DistributionOptions {
  uint64_t cases = 100'000, seed = 1;
};

/// Counts of the drawn encodings by class; a class is the encodings with the same upper bits, at most eight.
class Counted {
 public:
  Counted(const Format& format, std::string role)
      : name_(format.name()), role_(std::move(role)), f_(format.fields()), seen_(size_t{1} << bits()) {}

  void count(const Column& column, size_t index) {
    for (int i = 0; i < column.count(); ++i) {
      const uint64_t code = column.get(index, i) >> f_.ignored_low_bits & low_mask(significant());
      ++seen_[code >> (significant() - bits())];
      zeros_ += code == 0;
      ++all_;
    }
  }

  /// Number of classes with less than a tenth of an even share.
  size_t rare() const {
    return static_cast<size_t>(
        std::count_if(seen_.begin(), seen_.end(), [&](uint64_t n) { return n * 10 * seen_.size() < all_; }));
  }
  double greatest_share() const { return share(*std::max_element(seen_.begin(), seen_.end())); }
  bool is_worse_than(const Counted& other) const {
    const auto rank = [](const Counted& c) { return double(c.rare()) / double(c.seen_.size()); };
    return rank(*this) != rank(other) ? rank(*this) > rank(other) : greatest_share() > other.greatest_share();
  }
  std::string row() const {
    const auto most = std::max_element(seen_.begin(), seen_.end());
    return fmt::format("| {} | {} | {} of {} | {:.2f} % | {:0{}x}: {:.1f} % | {:.1f} % |", name_, role_, rare(),
                       seen_.size(), 100 * share(*std::min_element(seen_.begin(), seen_.end())), most - seen_.begin(),
                       (bits() + 3) / 4, 100 * greatest_share(), 100 * share(zeros_));
  }

 private:
  int significant() const { return f_.width - f_.ignored_low_bits - (f_.sign == SignField::ignored); }
  int bits() const { return std::min(8, significant()); }
  double share(uint64_t n) const { return double(n) / double(all_); }

  std::string name_, role_;
  FormatFields f_;
  std::vector<uint64_t> seen_;
  uint64_t zeros_ = 0, all_ = 0;
};

void count_cases(const Op& op, const DistributionOptions& options,
                 const std::vector<std::pair<size_t, Counted*>>& columns) {
  std::vector<GuidedSearch::Focus> focuses;
  focuses.push_back({"none", CornerHints{}, make_no_feedback()});
  const GuidedSearch search(op, std::move(focuses), options.seed);
  constexpr size_t chunk = 1024;
  Batch batch;
  for (uint64_t done = 0; done < options.cases; done += chunk) {
    search.propose(done / chunk, done, chunk, batch);
    for (size_t i = 0; i < batch.size(); ++i)
      for (const auto& [column, counted] : columns) counted->count(batch.inputs()[column], i);
  }
}

int run_distribution(const DistributionOptions& options) {
  std::vector<Counted> all;
  for (const FormatForms& form : format_forms()) {
    const Format f = format(form.name + (form.takes_bias ? ":7" : ""));
    const std::string& name = f.name();
    const std::string sum = f.fields().integer ? "s32" : f.fields().width == 64 ? "fp64" : "fp32";
    Counted factor(f, "factor"), c(f, "c"), scale(f, "scale");
    count_cases(op_from_text("dot a=" + name + " b=" + name + " c=" + sum + " d=" + sum + " k=16"), options,
                {{0, &factor}, {1, &factor}});
    const std::string narrow = f.fields().integer ? "s8" : "fp16";
    count_cases(op_from_text("dot a=" + narrow + " b=" + narrow + " c=" + name + " d=" + sum + " k=16"), options,
                {{2, &c}});
    all.push_back(factor);
    all.push_back(c);
    if (f.fields().integer || f.fields().has_sign()) continue;
    count_cases(op_from_text("dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=32 sblock=16 sa=" + name + " sb=" + name), options,
                {{3, &scale}, {4, &scale}});
    all.push_back(scale);
  }
  std::stable_sort(all.begin(), all.end(), [](const Counted& x, const Counted& y) { return x.is_worse_than(y); });
  fmt::print("| format | as | rare | rarest | most frequent | zeros |\n|---|---|---|---|---|---|\n");
  for (const Counted& counted : all) fmt::print("{}\n", counted.row());
  return exit_ok;
}

}  // namespace

void add_bench_distribution(Arguments& bench, int& status) {
  auto options = std::make_shared<DistributionOptions>();
  Arguments* sub =
      bench.add_subcommand("distribution", "What the searches draw of every format and scale, the worst first");
  sub->add_option("--cases", options->cases, "cases per format")->capture_default_str()->check(positive_number());
  sub->add_option("--seed", options->seed, "seed of the searches")->capture_default_str()->check(unsigned_number());
  sub->footer("Example: mmafuzz bench distribution --cases 10000");
  sub->callback([options, &status] { status = run_distribution(*options); });
}

}  // namespace mmafuzz
