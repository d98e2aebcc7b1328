#include "prove/proof.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "core/contradiction.h"
#include "prove/evaluate.h"

namespace mmafuzz::prove {
namespace {

using Clock = std::chrono::steady_clock;

/// Replaces nodes in expressions; operator() returns the new expression.
class Rewriter {
 public:
  explicit Rewriter(Expressions& table) : table_(table) {}
  void replace(uint32_t index, Expression substitute) {
    replaced_[index] = substitute;
    done_.clear();
  }
  bool replaces(uint32_t index) const { return replaced_.contains(index); }

  Expression operator()(Expression x) {
    const auto known = done_.find(x.index());
    if (known != done_.end()) return known->second;
    for (const uint32_t index : in_order({x})) {  // arguments first
      if (done_.contains(index)) continue;
      const auto substitute = replaced_.find(index);
      done_[index] = substitute == replaced_.end() ? rebuilt(index) : substitute->second;
    }
    return done_.at(x.index());
  }

 private:
  Expression rebuilt(uint32_t index) {
    const Expressions::Node n = table_.node(index);
    const int count = arity(n.operation);
    if (count == 0) return {&table_, index};
    const Expression x = done_.at(n.argument[0]);
    if (n.operation == Operation::bvneg) return -x;
    if (n.operation == Operation::bvnot) return ~x;
    if (count == 1) return table_.make(n.operation, n.width, {x}, n.low);
    const Expression y = done_.at(n.argument[1]);
    if (count == 2) return table_.make(n.operation, n.width, {x, y}, n.low);
    return choose(x, y, done_.at(n.argument[2]));
  }

  Expressions& table_;
  std::map<uint32_t, Expression> replaced_, done_;
};

// Seconds for one query on the way to the question, which may not need the statement at all.
constexpr double patience = 5;
constexpr double patience_before_cases = 0.5;  ///< where a case split follows, which is easier
constexpr double case_patience = 20;           ///< in one case of the split, the last attempt
constexpr int max_attempts = 6;                ///< of one statement, each with fewer cuts than the one before

/// What the point of the second formula is to that of the first.
enum class Relation { none, same, negated };

class Prover {
 public:
  Prover(Solvers& solvers, const Question& question, const std::vector<std::vector<uint64_t>>& samples,
         const ProofOptions& options)
      : solvers_(solvers),
        question_(question),
        options_(options),
        table_(question.violated.table()),
        merged_(table_),
        assumptions_(question.assumptions),
        hints_(question.hints),
        begin_(Clock::now()) {
    if (assumptions_.empty()) {
      samples_ = samples;
      return;
    }
    const Evaluator evaluator(question.variables, assumptions_);
    std::vector<uint64_t> allowed;
    for (const auto& sample : samples) {
      evaluator.run(sample, allowed);
      if (std::all_of(allowed.begin(), allowed.end(), [](uint64_t a) { return a == 1; })) samples_.push_back(sample);
    }
  }

  Proof run() {
    if (options_.only_hints) {
      if (!look_for_witness(question_.violated)) proof_.reason = "no hint holds a witness";
    } else {
      if (options_.in_steps) walk();
      if (options_.in_steps) establish_facts();
      ask_the_question();
    }
    proof_.seconds = elapsed();
    return std::move(proof_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double budget() const { return options_.seconds - options_.spent; }
  double left() const { return budget() - elapsed(); }

  /// Finds the cuts of all stages. Leaves half of the time for the question itself.
  void walk() {
    for (size_t s = 0; s < question_.first.size() && elapsed() < 0.5 * budget(); ++s) {
      const Stage &x = question_.first[s], &y = question_.second[s];
      for (size_t i = 0; i < x.points.size(); ++i) join(x, x.points[i], y.points[i]);
      std::set<uint32_t> points;
      for (const Expression& point : x.points) points.insert(merged_(point).index());
      for (const Expression& invariant : x.invariants) unproven_.push_back({x.name + ", invariant", invariant, points});
    }
  }

  void establish_facts() {
    for (const Fact& fact : question_.facts) {
      if (elapsed() > 0.5 * budget()) return;
      std::set<uint32_t> not_cut;
      for (const std::vector<Expression>& nodes : {fact.cuts, fact.not_cut})
        for (const Expression& node : nodes) not_cut.insert(merged_(node).index());
      const Expression says = merged_(fact.says);
      const std::vector<Expression> cases = fact.by_cases ? question_.cases : std::vector<Expression>{};
      if (!holds(fact.name, says, not_cut, budget() / 10, cases)) continue;
      invariants_.push_back(says);
      for (const Expression& node : fact.cuts) add_cut(merged_(node));
    }
  }

  /// Cuts at two points that are equal or opposite: as expressions, or by a proof where all samples show it.
  void join(const Stage& stage, Expression x, Expression y) {
    const Expression first = merged_(x), second = merged_(y);
    if (first == second) {
      add_cut(first);
      return;
    }
    const auto merge = [&](Relation relation) {
      const Expression opposite = first.width() == 1 ? ~first : -first;
      merged_.replace(y.index(), relation == Relation::same ? first : opposite);
      add_cut(first);
    };
    if (negated(first) == second) return merge(Relation::negated);
    const Relation relation = relation_of(first, second);
    if (relation == Relation::none) return;
    const Expression as_second = relation == Relation::same ? first : negated(first);
    const Expression claim = equal(as_second, second);
    const double seconds = stage.cases.empty() ? std::min(patience, budget() / 20) : patience_before_cases;
    if (holds(stage.name, claim, {first.index(), second.index()}, seconds) || holds_by_cases(stage, claim))
      merge(relation);
  }

  /// Whether a statement is proven for both values of one of the bits that the stage names.
  bool holds_by_cases(const Stage& stage, Expression claim) {
    return std::any_of(stage.cases.begin(), stage.cases.end(), [&](Expression split) {
      const Expression is_zero = merged_(split);
      for (const int64_t value : {0, 1}) {
        Rewriter in_this_case(table_);
        in_this_case.replace(is_zero.index(), table_.number(1, value));
        const Expression goal = in_this_case(claim);
        const Expression here = value ? is_zero : ~is_zero;
        const std::string name = stage.name + ", " + (value ? "zero" : "not zero");
        std::vector<Expression> query = {~goal, here};
        query.insert(query.end(), assumptions_.begin(), assumptions_.end());
        if (ask(name, query, case_patience).verdict != Verdict::unsat) return false;
      }
      return true;
    });
  }

  /// Proves the invariants of all stages, when the first query with cuts has failed. False: there were none to prove.
  bool learn() {
    if (unproven_.empty()) return false;
    for (const Invariant& i : std::exchange(unproven_, {})) {
      const Expression says = merged_(i.says);
      if (!table_.is_constant(says) && holds(i.name, says, i.points, patience)) invariants_.push_back(says);
    }
    return true;
  }

  void add_cut(Expression x) {
    if (arity(table_.node(x).operation) > 0) cuts_.insert(x.index());
  }

  /// A bit's complement, or -x. That of x + y is written (-x) + (-y), as the second formula has it.
  static Expression negated(Expression x) {
    if (x.width() == 1) return ~x;
    const Expressions::Node n = x.table().node(x);
    if (n.operation != Operation::bvadd) return -x;
    return -Expression(&x.table(), n.argument[0]) + -Expression(&x.table(), n.argument[1]);
  }

  Relation relation_of(Expression x, Expression y) {
    if (samples_.empty() || x.width() != y.width()) return Relation::none;
    const Evaluator evaluator(question_.variables, {equal(x, y), equal(negated(x), y)});
    bool same = true, opposite = true;
    std::vector<uint64_t> values;
    for (const auto& sample : samples_) {
      evaluator.run(sample, values);
      same &= values[0] == 1;
      opposite &= values[1] == 1;
      if (!same && !opposite) return Relation::none;
    }
    return same ? Relation::same : Relation::negated;
  }

  /// Whether a statement is proven where new variables stand for all nodes of `cuts_` but those of `not_cut`. Each
  /// further attempt drops the cuts that the last query used. `seconds` are for each query.
  bool holds(const std::string& name, Expression statement, const std::set<uint32_t>& not_cut, double seconds,
             const std::vector<Expression>& cases = {}) {
    std::set<uint32_t> cuts = cuts_;
    for (const uint32_t index : not_cut) cuts.erase(index);
    for (int attempt = 0; attempt < max_attempts && left() > 0; ++attempt) {
      std::set<uint32_t> used;
      const Answer answer = ask_cases(name, ~statement, cases, cuts, used, seconds);
      if (answer.verdict == Verdict::unsat) return true;
      if (used.empty() || answer.verdict == Verdict::unknown) return false;
      if (learn()) continue;
      for (const uint32_t index : used) cuts.erase(index);
    }
    return false;
  }

  /// One query; with `cases`, one outside of all cases and one for each. Unsat if all are, else the first other answer.
  Answer ask_cases(const std::string& name, Expression violated, const std::vector<Expression>& cases,
                   const std::set<uint32_t>& cuts, std::set<uint32_t>& used, double seconds) {
    if (cases.empty()) return ask(name, abstracted({violated}, cuts, used), seconds);
    std::vector<Expression> all;
    for (const Expression& c : cases) all.push_back(merged_(c));
    Answer answer = ask(name + ", other cases", abstracted({violated, ~any_of(table_, all)}, cuts, used), seconds);
    for (size_t i = 0; i < all.size() && answer.verdict == Verdict::unsat; ++i) {
      used.clear();
      const std::string number = ", case " + std::to_string(i + 1) + " of " + std::to_string(all.size());
      answer = ask(name + number, abstracted({all[i], violated}, cuts, used), seconds);
    }
    return answer;
  }

  /// The assertions with fresh variables at the cuts nearest to their roots, the assumptions and the invariants about
  /// what occurs in them. `used` gets the cuts whose variables occur.
  std::vector<Expression> abstracted(const std::vector<Expression>& assertions, const std::set<uint32_t>& cuts,
                                     std::set<uint32_t>& used) {
    Rewriter cut(table_);
    for (const uint32_t index : cuts) cut.replace(index, fresh(index));
    std::vector<Expression> query;
    std::set<uint32_t> seen;
    const auto add = [&](Expression x) {
      query.push_back(cut(x));
      for (const uint32_t index : in_order({query.back()})) seen.insert(index);
    };
    for (const Expression& a : assertions) add(a);
    // Each assumption that shares a variable with the query, in two forms. The original one has to be there, too:
    // nodes that are merged because of an assumption may make the merged form of this assumption trivially true.
    std::vector<bool> taken(assumptions_.size());
    for (bool more = true; more;) {
      more = false;
      for (size_t i = 0; i < assumptions_.size(); ++i) {
        const std::vector<Expression> about = variables_of({assumptions_[i]});
        const bool shares =
            std::any_of(about.begin(), about.end(), [&](Expression v) { return seen.contains(v.index()); });
        if (taken[i] || (!shares && !about.empty())) continue;
        more = taken[i] = true;
        add(merged_(assumptions_[i]));
        query.push_back(assumptions_[i]);
        for (const Expression& v : about) seen.insert(v.index());
      }
    }
    // An invariant is of use if all of its variables are in the query.
    for (const Expression& invariant : invariants_) {
      const Expression says = cut(invariant);
      const std::vector<Expression> about = variables_of({says});
      if (!about.empty() &&
          std::all_of(about.begin(), about.end(), [&](Expression v) { return seen.contains(v.index()); }))
        query.push_back(says);
    }
    for (const uint32_t index : cuts)
      if (seen.contains(fresh(index).index())) used.insert(index);
    for (size_t i = 0; used.empty() && i < assumptions_.size(); ++i)  // a witness without cuts has to satisfy all
      if (!taken[i]) query.push_back(assumptions_[i]);
    return query;
  }

  Expression fresh(uint32_t index) {
    const auto known = fresh_.find(index);
    if (known != fresh_.end()) return known->second;
    return fresh_[index] = table_.variable("cut" + std::to_string(index), table_.node(index).width);
  }

  /// Puts a query to the solvers, for at most `seconds` and the time that is left; unknown where none is left. An unsat
  /// becomes a step `is_of_proof`, and has to be confirmed if the options say so.
  Answer ask(const std::string& name, const std::vector<Expression>& query, double seconds, bool is_of_proof = true) {
    const double limit = std::min(seconds, left());
    if (limit <= 0) return {.reason = no_answer_in(options_)};
    const std::string comment = question_.text + "\n" + name;
    if (options_.emit) options_.emit(name, to_smt_lib(query, comment) + "(check-sat)\n");
    options_.progress(name);
    solvers_.limits().seconds = limit;
    Answer answer = solvers_.solve(query, comment);
    options_.progress("  " +
                      std::string(answer.verdict == Verdict::unsat ? "unsat"
                                  : answer.verdict == Verdict::sat ? "sat"
                                                                   : "unknown") +
                      " " + answer.solver + answer.reason + " " + std::to_string(answer.seconds));
    if (answer.verdict == Verdict::unsat && is_of_proof) {
      proof_.steps.push_back({name, answer.solver, answer.seconds});
      if (options_.confirm && !confirmed(name, query, answer, comment)) answer.verdict = Verdict::unknown;
    }
    return answer;
  }

  bool confirmed(const std::string& name, const std::vector<Expression>& query, const Answer& first,
                 const std::string& comment) {
    solvers_.limits().seconds = left();
    const Answer second =
        left() > 0 ? solvers_.solve(query, comment, first.solver) : Answer{.reason = no_answer_in(options_)};
    if (second.verdict == Verdict::sat)
      throw Contradiction("solvers disagree on '" + name + "' of " + question_.text + ": " + first.solver +
                          " says unsat, " + second.solver + " says sat");
    if (second.verdict == Verdict::unsat) {
      proof_.steps.push_back({name + ", confirmed", second.solver, second.seconds});
      return true;
    }
    proof_.steps.pop_back();
    proof_.reason = "no second solver confirms '" + name + "' (" + second.reason + ")";
    return false;
  }

  void ask_the_question() {
    const Expression violated = merged_(question_.violated);
    std::set<uint32_t> cuts = cuts_;
    for (const Expression& node : question_.not_cut) cuts.erase(merged_(node).index());
    for (;;) {
      if (left() <= 0) {
        proof_.reason = no_answer_in(options_);
        return;
      }
      std::set<uint32_t> used;
      abstracted({violated}, cuts, used);
      if (used.empty() && look_for_witness(violated)) return;
      const double limit = used.empty() ? left() : std::max(10.0, budget() / 3);
      const Answer answer = ask_cases("the question", violated, question_.cases, cuts, used, limit);
      if (answer.verdict == Verdict::unsat) {
        proof_.outcome = Outcome::proven;
        proof_.confirmed = options_.confirm;
        return;
      }
      if (used.empty()) {
        if (answer.verdict == Verdict::sat) {
          found(answer);
        } else if (proof_.reason.empty()) {
          proof_.reason = left() > 0 ? answer.reason : no_answer_in(options_);
        }
        return;
      }
      if (learn()) continue;
      if (look_for_witness(violated)) return;
      for (const uint32_t index : used) cuts.erase(index);
    }
  }

  /// Looks for a witness in the hints, each of which is tried once.
  bool look_for_witness(Expression violated) {
    for (const Hint& hint : std::exchange(hints_, {})) {
      std::vector<Expression> query = {violated, hint.holds};
      query.insert(query.end(), assumptions_.begin(), assumptions_.end());
      const Answer answer = ask("a witness, " + hint.name, query, hint.seconds, false);
      if (answer.verdict != Verdict::sat) continue;
      found(answer);
      return true;
    }
    return false;
  }

  void found(const Answer& answer) {
    proof_.outcome = Outcome::witness;
    proof_.witness = answer.model;
    proof_.steps.push_back({"the witness", answer.solver, answer.seconds});
  }

  /// A stage's invariant that is not proven yet. Its proof may not cut `points`, the indices of the stage's nodes.
  struct Invariant {
    std::string name;
    Expression says;
    std::set<uint32_t> points;
  };

  Solvers& solvers_;
  const Question& question_;
  std::vector<std::vector<uint64_t>> samples_;  ///< those that the assumptions allow
  const ProofOptions& options_;
  Expressions& table_;
  Rewriter merged_;  ///< writes the second formula's nodes as those of the first that they are proven to be
  std::vector<Expression> assumptions_, invariants_;  ///< the invariants are proven
  std::vector<Invariant> unproven_;
  std::vector<Hint> hints_;
  std::set<uint32_t> cuts_;               ///< indices of the nodes at which queries are cut
  std::map<uint32_t, Expression> fresh_;  ///< the new variable of each cut
  Proof proof_;
  Clock::time_point begin_;
};

}  // namespace

std::string no_answer_in(const ProofOptions& options) { return fmt::format("no answer in {} s", options.seconds); }

Proof prove(Solvers& solvers, const Question& question, const std::vector<std::vector<uint64_t>>& samples,
            const ProofOptions& options) {
  return Prover(solvers, question, samples, options).run();
}

}  // namespace mmafuzz::prove
