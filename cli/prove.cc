// mmafuzz prove: asks SMT solvers whether a statement holds for all inputs of a domain.
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/prove_output.h"
#include "core/replace_file.h"
#include "core/text.h"
#include "prove/inquiry.h"

namespace mmafuzz::cli {
namespace {

struct ProveOptions {
  std::vector<std::string> units, solvers;
  std::string unit, property, emit, file, width;
  int products = 0;
  prove::InquiryOptions inquiry;
  double seconds = 300;
  int memory = 4096;
  bool confirm = false, verbose = false, json = false;
};

/// The output of a command, with the solvers that it asks.
ProveOutput start(const ProveOptions& options, const char* command) {
  prove::Solvers solvers(prove::find_solvers(options.solvers), {options.seconds, options.memory});
  for (const std::string& refused : solvers.refused()) fmt::print(stderr, "mmafuzz: {}\n", refused);
  if (options.confirm && solvers.count() < 2)
    throw BadInput("--confirm needs a second solver; there is " + solvers.names()[0] + " alone");
  return {command, std::move(solvers), options.json, options.verbose};
}

prove::InquiryOptions inquiry_of(const ProveOptions& options) {
  prove::InquiryOptions inquiry = options.inquiry;
  inquiry.proof.seconds = options.seconds;
  inquiry.proof.confirm = options.confirm;
  if (options.verbose) inquiry.proof.progress = [](const std::string& step) { fmt::print(stderr, "  {}\n", step); };
  if (options.emit.empty()) return inquiry;
  std::filesystem::create_directories(options.emit);
  auto number = std::make_shared<int>(0);
  inquiry.proof.emit = [number, folder = options.emit](const std::string&, const std::string& text) {
    replace_file(fmt::format("{}/{:04}.smt2", folder, ++*number), text);
  };
  return inquiry;
}

/// Asks of each mutant in a file whether it equals its original (equivalent), or a case shows a difference (killed).
int run_mutants(const ProveOptions& options) {
  std::ifstream file(options.file);
  ProveOutput output = start(options, "mutants");
  int equivalent = 0, killed = 0, unknown = 0, declined = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = words_of(line.substr(0, line.find('#')), ' ');
    if (words.empty()) continue;
    const std::string& name = words[0];
    const size_t at = name.find('?');
    if (at == std::string::npos)
      throw BadInput(options.file + ": a mutant is a unit with ?overrides, not '" + name + "'");
    try {
      const prove::Reply reply = prove::ask_equal(output.solvers(), name.substr(0, at), name, inquiry_of(options));
      output.add_mutant(name, reply);
      switch (reply.proof.outcome) {
        case prove::Outcome::proven: ++equivalent; break;
        case prove::Outcome::witness: ++killed; break;
        case prove::Outcome::unknown: ++unknown; break;
      }
    } catch (const BadInput& e) {
      ++declined;
      output.add_declined_mutant(name, e.what());
    }
  }
  if (equivalent + killed + unknown + declined == 0) throw BadInput(options.file + ": holds no mutant");
  output.say(fmt::format("{} equivalent, {} killed, {} unknown, {} declined{}", equivalent, killed, unknown, declined,
                         domain_clause(options.inquiry)));
  return output.end(unknown + declined > 0 ? exit_unknown : killed > 0 ? exit_divergence : exit_ok);
}

/// For the residues of Ozaki scheme II: how many products a unit sums exactly, a case that shows that one more is not
/// exact, and which integers can be restored from residues.
int run_residues(const ProveOptions& options) {
  const std::string unit = options.unit.empty() ? "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32" : options.unit;
  if (options.products > 0) throw BadInput("prove ozaki residues finds the number of products itself");
  ProveOutput output = start(options, "ozaki");
  const prove::ResidueSums sums = prove::ask_residue_sums(output.solvers(), unit, inquiry_of(options));
  const bool proven = output.add(sums.enough) == exit_ok, refuted = output.add(sums.one_more) == exit_divergence;
  if (proven && refuted)
    output.conclude("products", sums.products,
                    fmt::format("{} products are summed exactly, {} are not", sums.products, sums.products + 1));
  for (const prove::ResidueIntegers& integers : prove::residue_integers(unit == "integer" ? "s8" : "e4m3"))
    output.say(
        fmt::format("{:2} moduli, P = 2^{:.1f}: integers up to P / 2 - 2^{:.1f} come back from residues, (P - 1) / "
                    "2 {}",
                    integers.moduli, integers.product_bits, std::max(integers.slack_bits, 0.0),
                    integers.all ? "does, too" : "or its negative does not"));
  return output.end(proven && refuted ? exit_ok : exit_unknown);
}

/// Asks whether sums of products of slices are exact at these widths and, of derived ones, not with one bit more.
int run_ozaki(const ProveOptions& options) {
  if (options.width == "residues") return run_residues(options);
  if (options.products < 1) throw BadInput("prove ozaki takes a width and a number of products");
  const std::string unit = options.unit.empty() ? "model:hopper/mma.m16n8k16.f32.f16.f16.f32" : options.unit;
  const bool is_derived = options.width == "derived";
  SliceWidths widths;
  if (is_derived) {
    widths = prove::derived_widths(unit, options.products);
  } else {
    const auto bits = [&](const std::string& word) {
      int value = 0;
      if (!parse_number(word, value) || value < 1)
        throw BadInput("a width is a number of bits, two by a comma, 'derived' or 'residues', not '" + options.width +
                       "'");
      return value;
    };
    const size_t comma = options.width.find(',');
    widths.a = bits(options.width.substr(0, comma));
    widths.b = comma == std::string::npos ? widths.a : bits(options.width.substr(comma + 1));
  }
  ProveOutput output = start(options, "ozaki");
  const auto ask = [&](SliceWidths w) {
    return output.add(prove::ask_exact_slices(output.solvers(), unit, w, options.products, inquiry_of(options)));
  };
  const int exact = ask(widths);
  if (!is_derived || exact != exit_ok) return output.end(exact);
  // Derived widths differ by at most one, a's being the wider one. One bit more is added to the narrower.
  SliceWidths more = widths;
  ++(more.b < more.a ? more.b : more.a);
  const int wider = ask(more);
  return output.end(wider == exit_divergence ? exit_ok : exit_unknown);
}

}  // namespace

void add_prove(Arguments& app, int& status) {
  auto options = std::make_shared<ProveOptions>();
  Arguments* sub = app.add_subcommand("prove", "Prove a statement about all inputs, or give a witness against it");
  sub->require_subcommand();
  sub->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
  const auto show_example = [](Arguments* mode, const std::string& words) {
    mode->footer("Exit codes: 0 proven, 1 a witness, 4 unknown.\nExample: mmafuzz prove " + words);
  };
  const std::string volta = " model:volta/mma.m8n8k4.f32.f16.f16.f32";
  show_example(sub, "property sign_symmetry" + volta);
  const auto takes_op = [options](Arguments* mode) {
    mode->add_option("--op", options->inquiry.op, "op line (default: the op of the unit's row)");
  };
  const auto takes_domain = [options](Arguments* mode) {
    mode->add_option("--domain", options->inquiry.domain,
                     "restricts operands: finite, normal, positive, binade, products=N, exponents=A..B (of factors), "
                     "c=0, by commas; of prove nearer on split: units also factors=fp16");
  };
  const auto takes_limits = [options](Arguments* mode) {
    mode->add_option("--time", options->seconds, "seconds for each question")
        ->capture_default_str()
        ->check(positive_number());
    mode->add_option("--memory", options->memory, "megabytes for each solver")
        ->capture_default_str()
        ->check(positive_number());
    mode->add_flag("--confirm", options->confirm, "every unsat by a second solver");
    mode->add_option("--solver", options->solvers,
                     "bitwuzla, cvc5, z3, or name=command; repeatable (default: those of the three that are installed)")
        ->allow_extra_args(false);
    mode->add_option("--emit", options->emit, "write every query as SMT-LIB 2 to this folder");
    mode->add_flag("--json", options->json, "print one JSON object (docs/json.md)");
    mode->add_flag("-v,--verbose", options->verbose, "print each step");
    add_rows_option(*mode);
  };
  const auto takes_question = [takes_op, takes_domain, takes_limits](Arguments* mode) {
    takes_op(mode);
    takes_domain(mode);
    takes_limits(mode);
  };
  const auto of_two_units = [options, &status](const char* name, auto ask) {
    return [options, &status, name, ask] {
      if (options->units.size() != 2) throw BadInput(std::string("prove ") + name + " takes two units");
      ProveOutput output = start(*options, name);
      status =
          output.end(output.add(ask(output.solvers(), options->units[0], options->units[1], inquiry_of(*options))));
    };
  };
  Arguments* equal = sub->add_subcommand("equal", "Two units are the same function");
  equal->add_option("units", options->units, "two units")->required();
  takes_question(equal);
  show_example(equal, "equal" + volta + volta + "?fraction_bits=24");
  equal->callback(of_two_units("equal", prove::ask_equal));
  Arguments* nearer = sub->add_subcommand(
      "nearer", "The first unit's result is never farther from the exact result than the second's, on finite operands");
  nearer->add_option("units", options->units, "two rows, or two units of split:")->required();
  nearer->add_option("--op", options->inquiry.op,
                     "op line (default: the row's op; of split: one element that takes one dot)");
  takes_domain(nearer);
  takes_limits(nearer);
  show_example(nearer, "nearer" + volta + "?fraction_bits=24" + volta + " --time 60");
  nearer->callback(of_two_units("nearer", prove::ask_nearer));
  Arguments* property = sub->add_subcommand("property", "A unit has a property");
  property->add_option("property", options->property, "its name")->required();
  property->add_option("unit", options->unit, "the unit")->required();
  takes_question(property);
  show_example(property, "property sign_symmetry" + volta);
  property->callback([options, &status] {
    ProveOutput output = start(*options, "property");
    status = output.end(
        output.add(prove::ask_property(output.solvers(), options->property, options->unit, inquiry_of(*options))));
  });
  Arguments* mutants =
      sub->add_subcommand("mutants", "Which of a list of mutants are the same function as their originals");
  mutants->add_option("file", options->file, "unit names with ?overrides, one a line; # begins a comment")
      ->required()
      ->check(existing_path());
  takes_question(mutants);
  show_example(mutants, "mutants bench/equivalent_mutants.txt --time 20");
  mutants->callback([options, &status] { status = run_mutants(*options); });
  Arguments* bits = sub->add_subcommand("bits", "How many integer bits the sum of a unit needs");
  bits->add_option("unit", options->unit, "the unit")->required();
  takes_question(bits);
  show_example(bits, "bits" + volta);
  bits->callback([options, &status] {
    ProveOutput output = start(*options, "bits");
    const prove::IntegerBits found = prove::ask_integer_bits(output.solvers(), options->unit, inquiry_of(*options));
    if (found.bits > 0) output.add(found.enough);
    // Where no number of bits was found, one_fewer is the question that stayed open.
    const bool is_least = found.bits == 1 || output.add(found.one_fewer) == exit_divergence;
    status = found.bits > 0 && is_least ? exit_ok : exit_unknown;
    if (status == exit_ok)
      output.conclude(
          "integer_bits", found.bits,
          (found.bits == 1 ? "1 integer bit is enough"
                           : fmt::format("{} integer bits are enough, {} are not", found.bits, found.bits - 1)) +
              domain_clause(options->inquiry));
    output.end(status);
  });
  Arguments* monotone = sub->add_subcommand(
      "monotone",
      "The least number of products of a block with which a greater c can lower the result; and by how many ulps at "
      "most, in one block, where a positive c rises to the next number and the new result is not below it");
  monotone->add_option("unit", options->unit, "the unit")->required();
  takes_op(monotone);
  takes_limits(monotone);
  show_example(monotone, "monotone" + volta);
  monotone->callback([options, &status] {
    ProveOutput output = start(*options, "monotone");
    const prove::Monotony found = prove::ask_monotony(output.solvers(), options->unit, inquiry_of(*options),
                                                      [&](const prove::Reply& reply) { output.add(reply); });
    status = found.knows_products && (found.products == 0 || found.knows_ulps) ? exit_ok : exit_unknown;
    if (found.knows_products)
      output.conclude("products", found.products,
                      found.products == 0   ? "monotone in c"
                      : found.products == 1 ? "with 1 product of a block a greater c can lower the result; there is "
                                              "nothing to prove of fewer"
                                            : fmt::format("with {} products of a block a greater c can lower the "
                                                          "result, with {} it cannot",
                                                          found.products, found.products - 1));
    if (found.knows_ulps)
      output.conclude("ulps", found.ulps,
                      fmt::format("in one block, where a positive c rises to the next number and the new result is not "
                                  "below it, the result falls by at most {} {}",
                                  found.ulps, found.ulp));
    output.end(status);
  });
  Arguments* ozaki = sub->add_subcommand(
      "ozaki", "Sums of products of integer digits are exact, as the Ozaki scheme needs (docs/ozaki.md)");
  ozaki
      ->add_option("width", options->width,
                   "bits of a digit: 10, or 9,8 for a and b, or derived: the widest; or residues: of how many "
                   "products those of scheme II are exact")
      ->required();
  ozaki
      ->add_option("products", options->products,
                   fmt::format("products along k, at most {}; not of residues", prove::max_slice_products))
      ->check(positive_number());
  ozaki->add_option("--unit", options->unit, "the unit (default: a Hopper row, of fp16, or of residues e4m3)");
  takes_limits(ozaki);
  show_example(ozaki, "ozaki 11,10 16");
  ozaki->callback([options, &status] { status = run_ozaki(*options); });
}

}  // namespace mmafuzz::cli
