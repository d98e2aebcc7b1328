// mmafuzz bench neighbours: writes corpus/neighbours, cases on which rows differ from the arithmetic nearest to theirs.
#include "bench/neighbours.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "arithmetic/evaluate_dot.h"
#include "bench/bench.h"
#include "core/case_text.h"
#include "core/contradiction.h"
#include "core/dot_case.h"
#include "core/parallel.h"
#include "identify/space.h"
#include "search/structured_generator.h"
#include "triage/simplifications.h"

namespace mmafuzz {
namespace {

constexpr uint64_t seed_of_cases = 1;

/// A candidate for the neighbour of a row.
struct Hypothesis {
  std::string name;  ///< of its unit, without `model:` or `twin:`
  DotModel model;
  size_t numbers = 0, nans = 0;  ///< counted cases on which it differs, by Differs
};

/// All candidates: the other rows that take the op, then the changes of one parameter.
std::vector<Hypothesis> hypotheses_about(const ModelRow& row) {
  std::vector<Hypothesis> all;
  HypothesisSpace space(row.op);
  for (const ModelRow& other : model_rows()) {
    if (other.op.d == row.op.d) {
      space.add_nan(other.model.nan);
      if (other.model.invalid_nan) space.add_nan(other.model.invalid_nan);
    }
    if (other.name() != row.name() && registry().bind("model:" + other.name(), row.op))
      all.push_back({other.name(), other.model});
  }
  std::vector<const Parameter*> changed = space.parameters_of(row.model.kernel);
  changed.push_back(find_parameter("kernel"));
  for (const Parameter* p : changed)
    for (const int64_t value : space.values(*p)) {
      if (value == p->get(row.model) || !space.why_equal(row.model, *p, value).empty()) continue;
      const std::string change = std::string(p->name) + "=" + value_text(*p, value);
      if (const Result<DotModel> model = with_overrides(row.model, change))
        all.push_back({row.name() + "?" + change, *model});
    }
  return all;
}

/// Structured cases of a row with its results, in parts, because the first part suffices for most hypotheses.
class Compared {
 public:
  static constexpr size_t part = 512;

  Compared(const ModelRow& row, size_t count) : row_(row) {
    const std::unique_ptr<Unit> unit = bind_or_fail("model:" + row.name(), row.op);
    parts_.resize((count + part - 1) / part);
    results_.resize(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      StructuredGenerator(row.op, seed_of_cases).fill(i * part, std::min(part, count - i * part), parts_[i]);
      unit->run(parts_[i], results_[i]);
    }
  }

  size_t parts() const { return parts_.size(); }

  /// Adds the differing cases of the parts first to last - 1 to `other`, until more than `most` differ in numbers.
  void count(Hypothesis& other, size_t first, size_t last, size_t most) const {
    const std::unique_ptr<Unit> unit = bind_or_fail("model:" + other.name, row_.op);
    Outcomes outcomes;
    for (size_t i = first; i < last && other.numbers <= most; ++i) {
      unit->run(parts_[i], outcomes);
      for (size_t index = 0; index < parts_[i].size(); ++index)
        if (const auto how = how_they_differ(row_.model.d, results_[i].results.get(index), outcomes.results.get(index)))
          ++(how == Differs::numbers ? other.numbers : other.nans);
    }
  }

 private:
  const ModelRow& row_;
  std::vector<Batch> parts_;
  std::vector<Outcomes> results_;
};

/// Simplifies cases on which row and neighbour differ, to different simple cases.
class Descents {
 public:
  Descents(const ModelRow& row, const DotModel& other, Differs how)
      : row_(row), other_(other), how_(how), one_(row.op), scratch_(row.op), found_(row.op) {
    scratch_.resize(1);
  }

  const Batch& found() const { return found_; }
  bool differs(const Batch& cases, size_t index) { return signature(cases, index).has_value(); }

  /// Simplifies a case and adds the result to found(), unless it is there. Each step keeps the signature of both
  /// results and avoids the cases that were found before.
  void descend(const Batch& cases, size_t index) {
    Operands current(row_.op, cases, index);
    const auto wanted = signature(cases, index);
    for (bool changed = true; changed;) {
      changed = false;
      for (const Simplification simplify : simplifications())
        while (accept_first(current, simplify(current), wanted)) changed = true;
    }
    if (!taken_.insert(addends_of(current)).second) return;
    current.store(scratch_, 0);
    found_.append(scratch_, 0);
  }

 private:
  /// Class, sign and subnormality of both results; nullopt where they do not differ as `how_` says.
  using Signature = std::vector<int>;
  std::optional<Signature> signature(const Batch& cases, size_t index) {
    const DotOperands& in = one_.load(cases, index);
    Signature all;
    const uint64_t results[] = {evaluate_dot(row_.model, in), evaluate_dot(other_, in)};
    if (how_they_differ(row_.model.d, results[0], results[1]) != how_) return std::nullopt;
    for (const uint64_t result : results) {
      const Number n = decode(row_.model.d, result);
      all.insert(all.end(), {static_cast<int>(n.cls), n.negative, n.subnormal});
    }
    return all;
  }

  /// The operands of each product, sorted, and those of c: cases with the same products in another order are equal.
  using Addends = std::vector<std::vector<uint64_t>>;
  static Addends addends_of(const Operands& operands) {
    Addends all;
    for (int i = 0; i < operands.addends(); ++i) {
      std::vector<uint64_t>& addend = all.emplace_back();
      for (const size_t at : operands.operands_of(i)) addend.push_back(operands[at]);
    }
    std::sort(all.begin(), all.end() - 1);
    return all;
  }

  bool accept_first(Operands& current, const std::vector<Operands>& candidates,
                    const std::optional<Signature>& wanted) {
    const CaseCost cost = current.cost();
    for (const Operands& candidate : candidates) {
      if (!is_simpler(candidate, candidate.cost(), current, cost) || taken_.count(addends_of(candidate))) continue;
      candidate.store(scratch_, 0);
      if (signature(scratch_, 0) != wanted) continue;
      current = candidate;
      return true;
    }
    return false;
  }

  const ModelRow& row_;
  const DotModel& other_;
  Differs how_;
  DotCase one_;
  Batch scratch_, found_;
  std::set<Addends> taken_;
};

/// Ten simplified cases from the first structured cases that differ; where few differ, several from each.
Batch cases_against(const ModelRow& row, const DotModel& neighbour, Differs how, size_t structured_cases) {
  Descents descents(row, neighbour, how);
  const StructuredGenerator generator(row.op, seed_of_cases);
  Batch part, differing(row.op);
  for (uint64_t first = 0; first < structured_cases && differing.size() < cases_of_a_neighbour; first += part.size()) {
    generator.fill(first, std::min<uint64_t>(Compared::part, structured_cases - first), part);
    for (size_t i = 0; i < part.size() && differing.size() < cases_of_a_neighbour; ++i)
      if (descents.differs(part, i)) differing.append(part, i);
  }
  for (size_t before = SIZE_MAX; before != descents.found().size();) {
    before = descents.found().size();
    for (size_t i = 0; i < differing.size() && descents.found().size() < cases_of_a_neighbour; ++i)
      descents.descend(differing, i);
  }
  return descents.found();
}

/// The nearest hypothesis that differs in one way, and minimized, distinct cases against it, ten if possible.
struct Neighbour {
  std::optional<Hypothesis> nearest;  ///< nullopt: no hypothesis differs in this way on a structured case
  size_t differing = 0;               ///< number of structured cases on which it differs
  Batch cases;
};
struct AmongNeighbours {
  Neighbour numbers, nans;
  size_t hypotheses = 0;  ///< number of candidates
};
AmongNeighbours among_neighbours(const ModelRow& row, size_t structured_cases) {
  const Compared compared(row, structured_cases);
  std::vector<Hypothesis> all = hypotheses_about(row);
  // The first part shows which hypotheses differ often; they are not counted to the end.
  for (Hypothesis& other : all) compared.count(other, 0, 1, structured_cases);
  std::stable_sort(all.begin(), all.end(),
                   [](const Hypothesis& x, const Hypothesis& y) { return x.numbers < y.numbers; });
  const Hypothesis *numbers = nullptr, *nans = nullptr;
  for (Hypothesis& other : all) {
    compared.count(other, 1, compared.parts(), numbers ? numbers->numbers : structured_cases);
    if (other.numbers > 0 && (!numbers || other.numbers < numbers->numbers)) numbers = &other;
    if (other.numbers == 0 && other.nans > 0 && (!nans || other.nans < nans->nans)) nans = &other;
  }
  const auto neighbour = [&](const Hypothesis* nearest, size_t Hypothesis::*differing, Differs how) -> Neighbour {
    if (!nearest) return {};
    return {*nearest, nearest->*differing, cases_against(row, nearest->model, how, structured_cases)};
  };
  return {neighbour(numbers, &Hypothesis::numbers, Differs::numbers), neighbour(nans, &Hypothesis::nans, Differs::nans),
          all.size()};
}

}  // namespace

std::optional<Differs> how_they_differ(const FormatFields& d, uint64_t x, uint64_t y) {
  if (x == y) return std::nullopt;
  const auto is_nan = [&](uint64_t v) { return decode(d, v).cls == NumberClass::nan; };
  return is_nan(x) && is_nan(y) ? Differs::nans : Differs::numbers;
}

std::vector<const ModelRow*> rows_with_neighbours() {
  std::set<std::string> distinguished;
  for (const auto& rows : {nvidia_rows(), amd_rows()})
    for (const ModelRow& row : rows) distinguished.insert(row.arch);
  std::vector<const ModelRow*> all;
  for (const ModelRow& row : model_rows())
    if (!distinguished.count(row.arch)) all.push_back(&row);
  return all;
}

Batch as_plain_sums(const DotModel& row, const Batch& cases) {
  Batch plain(cases.op());
  const FormatFields &a = cases.op().a.fields(), &c = cases.op().c.fields();
  const bool negates_products = negates_sum(row) != negates_result(row),
             negates_addend = negates_c(row) != negates_result(row);
  for (size_t i = 0; i < cases.size(); ++i) {
    plain.append(cases, i);
    for (int lane = 0; negates_products && lane < cases.op().k; ++lane)
      plain.inputs()[0].set(i, lane, cases.a().get(i, lane) ^ a.in_container(a.sign_bit()));
    if (row.form == Form::s_alone) plain.inputs()[2].set(i, 0, c.encode_zero(true));
    else if (negates_addend) plain.inputs()[2].set(i, 0, cases.c().get(i) ^ c.in_container(c.sign_bit()));
  }
  return plain;
}

namespace {

struct NeighboursOptions {
  std::string to;
  uint64_t cases = 1 << 17;
};

/// Writes the cases with the results of a unit as a block of a file.
void write_block(CaseWriter& writer, const std::string& unit, const Batch& cases) {
  const Outcomes outcomes = bind_or_fail(unit, cases.op())->outcomes_of(cases);
  writer.unit(unit);
  writer.op(cases.op());
  for (size_t i = 0; i < cases.size(); ++i) writer.one_case(cases, i, &outcomes);
}

void write(CaseWriter& writer, const ModelRow& row, const Neighbour& neighbour, size_t hypotheses, uint64_t compared) {
  writer.comment(fmt::format("{} against {}: nearest of {}, differs on {} of {} cases", row.name(),
                             neighbour.nearest->name, hypotheses, neighbour.differing, compared));
  write_block(writer, "twin:" + row.name(), neighbour.cases);
  write_block(writer, "twin:" + neighbour.nearest->name, neighbour.cases);
  write_block(writer, "exact:mpfr", as_plain_sums(row.model, neighbour.cases));
}

/// Throws a Contradiction where model and twin of the row or its neighbour differ, so that the corpus has no such case.
void check_by_twins(const ModelRow& row, const Neighbour& neighbour) {
  for (const std::string& name : {row.name(), neighbour.nearest->name}) {
    Outcomes model, twin;
    bind_or_fail("model:" + name, row.op)->run(neighbour.cases, model);
    bind_or_fail("twin:" + name, row.op)->run(neighbour.cases, twin);
    for (size_t i = 0; i < neighbour.cases.size(); ++i)
      if (model.results.get(i) != twin.results.get(i))
        throw Contradiction(name + " and its slow twin differ on " + case_line(neighbour.cases, i));
  }
}

int run_neighbours(const NeighboursOptions& options) {
  std::error_code failed;
  std::filesystem::create_directories(options.to, failed);
  if (failed) throw BadInput("cannot write to " + options.to + ": " + failed.message());
  const std::vector<const ModelRow*> rows = rows_with_neighbours();
  std::vector<AmongNeighbours> found(rows.size());
  in_parallel(hardware_threads(), rows.size(), [&](size_t i) { found[i] = among_neighbours(*rows[i], options.cases); });
  std::map<std::string, std::unique_ptr<CaseWriter>> files;
  int short_of_ten = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::unique_ptr<CaseWriter>& file = files[rows[i]->arch];
    if (!file) {
      file = std::make_unique<CaseWriter>(options.to + "/" + rows[i]->arch + ".cases");
      file->comment(
          "Cases that tell a row from its nearest neighbour, by `mmafuzz bench neighbours corpus/neighbours`.");
      file->comment(
          "Of each row three blocks: its results and the neighbour's, by their slow twins, and the exact sums");
      file->comment("rounded once, with the signs that the row's form gives the operands. First where numbers differ,");
      file->comment("then, where a neighbour differs in nothing else, which NaN comes out.");
    }
    for (const auto& [neighbour, kind] : {std::pair{&found[i].numbers, "numbers"}, std::pair{&found[i].nans, "NaNs"}}) {
      if (neighbour->nearest) {
        check_by_twins(*rows[i], *neighbour);
        write(*file, *rows[i], *neighbour, found[i].hypotheses, options.cases);
      }
      fmt::print("{} {} {} {} {}\n", rows[i]->name(), kind, neighbour->nearest ? neighbour->nearest->name : "-",
                 neighbour->differing, neighbour->cases.size());
      short_of_ten += neighbour->cases.size() < cases_of_a_neighbour;
    }
  }
  for (const auto& [arch, file] : files) file->finish();
  fmt::print("{} rows, {} short of {} cases\n", rows.size(), short_of_ten, cases_of_a_neighbour);
  return short_of_ten == 0 ? exit_ok : exit_unknown;
}

}  // namespace

void add_bench_neighbours(Arguments& bench, int& status) {
  auto options = std::make_shared<NeighboursOptions>();
  Arguments* sub = bench.add_subcommand("neighbours", "Cases that tell rows from the arithmetic nearest to theirs");
  sub->add_option("folder", options->to, "where to write a file for each architecture")->required();
  sub->add_option("--cases", options->cases, "structured cases on which the nearest is sought")
      ->capture_default_str()
      ->check(positive_count());
  sub->footer(
      "Prints of each row its neighbour, on how many cases that differs, and how many cases are written.\n"
      "Exit code 4 where they are fewer than ten.\n"
      "Example: mmafuzz bench neighbours corpus/neighbours");
  sub->callback([options, &status] { status = run_neighbours(*options); });
}

}  // namespace mmafuzz
