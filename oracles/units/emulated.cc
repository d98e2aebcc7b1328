// The family `emulated:MAKER/INSTRUCTION`: instructions of other processors, run by QEMU's user emulation. Each is a C
// program of examples/emulated/ (a process of docs/processes.md) that a cross compiler of Debian builds when it is
// first asked for. The arithmetic that is compared with the rows is QEMU's, which other people wrote.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

#include "core/child_process.h"
#include "core/fnv1a.h"
#include "core/function_unit.h"
#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/units/process_unit.h"

namespace mmafuzz {
namespace {

namespace fs = std::filesystem;

/// A processor, with what compiles programs for it and what runs them.
struct Machine {
  const char *maker, *compiler, *flags;
  std::vector<std::string> emulator;  ///< a command before the program
  const char* packages;               ///< of Debian
};
const Machine machines[] = {
    {"arm",
     "aarch64-linux-gnu-gcc",
     "-march=armv8.6-a+bf16",
     {"qemu-aarch64", "-cpu", "max,sme-default-vector-length=16"},
     "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross"},
    {"power10",
     "powerpc64le-linux-gnu-gcc",
     "-mcpu=power10",
     {"qemu-ppc64le", "-cpu", "power10"},
     "qemu-user gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"},
};

/// An instruction. `row`: the row that the unit claims to equal or, if there is an integer_op (the op that it takes),
/// "integer". `program`: its source in examples/emulated, without .c; several instructions may share one, compiled with
/// other `flags`. `honours_fpcr`: whether it reads FPCR's control bits.
struct EmulatedInstruction {
  const char *name, *row, *source, *program, *flags = "", *integer_op = nullptr;
  bool honours_fpcr = false;

  Op op() const { return integer_op ? *parse_op(integer_op) : find_model_row(row)->op; }
};
#define POWER10(stem, form, types) \
  { "power10/" #stem #form, "power10/" #stem #form types, #stem #form, "power10_" #stem, "-DFORM=" #form }
#define POWER10_FORMS(stem, types)                                                                      \
  POWER10(stem, , types), POWER10(stem, pp, types), POWER10(stem, pn, types), POWER10(stem, np, types), \
      POWER10(stem, nn, types)
#define POWER10_INTEGER(stem, form, op, ...) \
  { "power10/" #stem #form, "integer", #stem #form, "power10_" #stem, "-DFORM=" #form __VA_ARGS__, "dot " op }
constexpr bool reads_fpcr = true;
constexpr EmulatedInstruction emulated_instructions[] = {
    {"arm/bfdot", "arm/bfdot.k2.f32.bf16.bf16.f32", "BFDOT with FPCR.EBF = 0", "arm_bfdot"},
    {"arm/bfmmla", "arm/bfmmla.k4.f32.bf16.bf16.f32", "BFMMLA with FPCR.EBF = 0", "arm_bfmmla"},
    {"arm/bfmlal", "arm/bfmlal.k1.f32.bf16.bf16.f32", "BFMLALB", "arm_bfmlal", "", nullptr, reads_fpcr},
    {"arm/bfmlalt", "arm/bfmlal.k1.f32.bf16.bf16.f32", "BFMLALT", "arm_bfmlal", "-DODD", nullptr, reads_fpcr},
    {"arm/bfmopa", "arm/bfmopa.k2.f32.bf16.bf16.f32", "SME's BFMOPA with FPCR.EBF = 0", "arm_bfmopa"},
    {"arm/fmopa_f16", "arm/fmopa.k2.f32.f16.f16.f32", "SME's FMOPA of fp16", "arm_fmopa_f16", "", nullptr, reads_fpcr},
    {"arm/fmopa_f32", "arm/fmopa.k1.f32.f32.f32.f32", "SME's FMOPA of fp32", "arm_fmopa_f32", "", nullptr, reads_fpcr},
    {"arm/fmopa_f64", "arm/fmopa.k1.f64.f64.f64.f64", "SME's FMOPA of fp64", "arm_fmopa_f64", "", nullptr, reads_fpcr},
    POWER10_FORMS(xvf16ger2, ".k2.f32.f16.f16.f32"),
    POWER10_FORMS(xvbf16ger2, ".k2.f32.bf16.bf16.f32"),
    POWER10_FORMS(xvf32ger, ".k1.f32.f32.f32.f32"),
    POWER10_FORMS(xvf64ger, ".k1.f64.f64.f64.f64"),
    POWER10_INTEGER(xvi8ger4, pp, "a=s8 b=u8 c=s32 d=s32 k=4"),
    POWER10_INTEGER(xvi8ger4, spp, "a=s8 b=u8 c=s32 d=s32 k=4 saturate=1", " -DSATURATES"),
    POWER10_INTEGER(xvi4ger8, pp, "a=s4 b=s4 c=s32 d=s32 k=8"),
    POWER10_INTEGER(xvi16ger2, pp, "a=s16 b=s16 c=s32 d=s32 k=2"),
    POWER10_INTEGER(xvi16ger2, spp, "a=s16 b=s16 c=s32 d=s32 k=2 saturate=1", " -DSATURATES"),
};
#undef POWER10_INTEGER
#undef POWER10_FORMS
#undef POWER10

/// A word of `fpcr=`: control bits of Arm's FPCR (Arm ARM, C5.2.10) that QEMU 7.2 supports, and the overrides that
/// describe their effect on a row, and on a row whose operands are fp16; "": no effect.
struct FpcrWord {
  const char* name;
  uint32_t bits;
  const char *overrides, *overrides_of_fp16;
};
constexpr FpcrWord fpcr_words[] = {
    {"fz", 1u << 24, "subnormals=flushed_signed,tininess=before", "subnormals=flushed_of_fp32,tininess=before"},
    {"fz16", 1u << 19, "", "subnormals=flushed_of_fp16,tininess=before"},
    {"dn", 1u << 25, "nan_from=constant", "nan_from=constant"},
    {"rp", 1u << 22, "output_rounding=up", "output_rounding=up"},
    {"rm", 2u << 22, "output_rounding=down", "output_rounding=down"},
    {"rz", 3u << 22, "output_rounding=toward_zero", "output_rounding=toward_zero"},
};

/// What the words of `fpcr=` mean together.
struct Fpcr {
  uint32_t bits = 0;
  std::string overrides;  ///< of the claimed row, "?name=value,..."; "" for no words
};

Result<Fpcr> parse_fpcr(const EmulatedInstruction& instruction, const std::string& words) {
  if (!instruction.honours_fpcr) return declined(std::string(instruction.name) + " does not read FPCR's control bits");
  const Op op = instruction.op();
  const DotModel& row = find_model_row(instruction.row)->model;
  if (words.empty()) return invalid("fpcr= needs a word");
  Fpcr fpcr;
  for (const std::string& word : words_of(words, '+')) {
    const FpcrWord* const found = entry_named(fpcr_words, word);
    if (!found)
      return invalid("fpcr= takes " + names_in_table(fpcr_words, ", ") + ", joined by +, not " +
                     mmafuzz::in_quotes(word));
    const char* overrides = op.a.name() == "fp16" ? found->overrides_of_fp16 : found->overrides;
    if (custom_name(*with_overrides(row, overrides), op) == custom_name(row, op))
      return declined("fpcr=" + word + " changes nothing in " + instruction.name);
    const std::string setting(overrides, std::strchr(overrides, '=') + 1);
    if (fpcr.overrides.find(setting) != std::string::npos)
      return invalid("fpcr=" + words + " says twice what " + setting + " is");
    fpcr.bits |= found->bits;
    fpcr.overrides += (fpcr.overrides.empty() ? "?" : ",") + std::string(overrides);
  }
  return fpcr;
}

const Machine& machine_of(const EmulatedInstruction& instruction) {
  for (const Machine& machine : machines)
    if (std::string_view(instruction.name).starts_with(machine.maker)) return machine;
  return machines[0];
}

/// Why the programs of a machine cannot be built or run here; empty: they can.
std::string missing_for(const Machine& machine) {
  for (const std::string& program : {std::string(machine.compiler), machine.emulator[0]})
    if (find_in_path(program).empty()) return "there is no " + program + " here (Debian: " + machine.packages + ")";
  return "";
}

/// examples/emulated of the source tree that this program was built in, or where it was installed; empty: neither.
fs::path source_folder() {
  const fs::path here = fs::path(own_command()).parent_path();
  for (const char* folder : {"../../examples/emulated", "../share/mmafuzz/emulated"})
    if (fs::exists(here / folder / "unit.h")) return (here / folder).lexically_normal();
  return {};
}

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "mmafuzz";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "mmafuzz";
  return fs::temp_directory_path() / ("mmafuzz-" + std::to_string(getuid()));
}

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The path of an instruction's program, which is built if it is not in the cache folder yet: its file name has a hash
/// of its sources, compiler and flags.
Result<std::string> program_of(const EmulatedInstruction& instruction) {
  static std::mutex building;
  const std::lock_guard lock(building);
  const Machine& machine = machine_of(instruction);
  const fs::path folder = source_folder();
  if (folder.empty()) return declined("the programs of emulated: (examples/emulated) are not installed");
  const fs::path source = folder / (std::string(instruction.program) + ".c");
  const std::string flags = std::string(machine.flags) + " " + instruction.flags;
  std::set<fs::path> sources = {source};
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".h") sources.insert(entry.path());
  uint64_t hash = fnv1a(machine.compiler + flags);
  for (const fs::path& file : sources) hash = fnv1a(contents(file), hash);
  std::ostringstream name;
  name << instruction.program << "-" << std::hex << hash;
  const fs::path program = cache_folder() / "emulated" / name.str();
  std::error_code ignored;
  if (fs::exists(program, ignored)) return program.string();
  fs::create_directories(program.parent_path(), ignored);
  const std::string unfinished = program.string() + "." + std::to_string(getpid()), log = unfinished + ".log";
  const std::string command = std::string(machine.compiler) + " -O2 -static " + flags + " " +
                              shell_word(source.string()) + " -o " + shell_word(unfinished) + " 2>" + shell_word(log);
  const bool built = std::system(command.c_str()) == 0;
  std::error_code error;
  if (built) fs::rename(unfinished, program, error);
  std::ifstream messages(log);
  std::string first_line;
  std::getline(messages, first_line);
  fs::remove(log, ignored);
  if (!built) return declined(std::string(machine.compiler) + " failed: " + first_line);
  if (error) fs::remove(unfinished, ignored);
  if (error) return declined("cannot make " + program.string() + ": " + error.message());
  return program.string();
}

constexpr const char* share_setting = "share";
/// One batch in this many is given to an emulated unit by a default search: emulation is twenty times slower than its
/// row and hundreds of times slower than other units. A prime number, so that each kind of round of a search has its
/// turn.
constexpr uint64_t default_share = 251, max_share = 1000;

class EmulatedFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name.starts_with("emulated:"); }
  Role role(const std::string&) const override { return Role::plugin; }
  Attributes honours(const std::string&, const Op&) const override { return every_attribute; }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const EmulatedInstruction& instruction : emulated_instructions)
      all.push_back({std::string("emulated:") + instruction.name,
                     std::string(instruction.source) + " by QEMU's user emulation: " + to_text(instruction.op()), "",
                     claims(instruction, instruction.op()), missing_for(machine_of(instruction))});
    return all;
  }

  FamilyParameters parameters() const override {
    return {"emulated:",
            {{"fpcr", "control bits of Arm's FPCR, joined by +; the row that is claimed has what they make of it",
              "fz, fz16, dn, rp, rm, rz (none)"},
             {share_setting, "a search gives it one batch in N, and compares it with the claimed row alone",
              "1 to " + std::to_string(max_share) + " (1)"}}};
  }

  /// Every instruction that takes the op: whatever a form negates or leaves out, each is compared with its own row.
  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    for (const EmulatedInstruction& instruction : emulated_instructions) {
      const Op step = instruction.op();
      const bool takes =
          op.kind == step.kind && op.has_formats_of(step) && op.saturate == step.saturate && op.k % step.k == 0;
      if (takes && missing_for(machine_of(instruction)).empty())
        names.push_back(std::string("emulated:") + instruction.name + "?" + share_setting + "=" +
                        std::to_string(default_share));
    }
    return names;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& text, const Op& op) const override {
    const UnitName name(text);
    const EmulatedInstruction* instruction = entry_named(emulated_instructions, name.path);
    if (!instruction)
      return unknown("unknown unit " + mmafuzz::in_quotes(text) + "; emulated: has " +
                     names_in_table(emulated_instructions, ", "));
    uint64_t share = 1;
    Fpcr fpcr;
    for (const auto& [setting, value] : name.each_setting()) {
      if (setting == "fpcr") {
        const Result<Fpcr> parsed = parse_fpcr(*instruction, value);
        if (!parsed) return parsed.refusal();
        fpcr = *parsed;
        continue;
      }
      if (setting != share_setting || !parse_number(value, share) || share < 1 || share > max_share)
        return invalid("unit " + mmafuzz::in_quotes(text) + ": emulated: takes fpcr= and share=1 to " +
                       std::to_string(max_share) + ", not " + mmafuzz::in_quotes(setting + "=" + value));
    }
    const Machine& machine = machine_of(*instruction);
    if (const std::string missing = missing_for(machine); !missing.empty()) return declined(missing);
    const Result<std::string> program = program_of(*instruction);
    if (!program) return program.refusal();
    std::vector<std::string> command = machine.emulator;
    command.push_back(*program);
    if (fpcr.bits) command.push_back(std::to_string(fpcr.bits));
    Result<std::unique_ptr<Unit>> unit = bind_process(text, command, ProcessSettings{}, op);
    if (unit) {
      (*unit)->set_every_nth_batch(share);
      (*unit)->describe(text, claims(*instruction, op, fpcr.overrides));
    }
    return unit;
  }

 private:
  static std::vector<Claim> claims(const EmulatedInstruction& instruction, const Op& op,
                                   const std::string& overrides = "") {
    if (!instruction.integer_op) return {{"equals_model", std::string("model:") + instruction.row + overrides}};
    // Each step of a chain clamps, `integer` clamps once at the end.
    if (op.saturate && op.k > instruction.op().k) return {};
    return {{"equals_model", instruction.row}};
  }
};

}  // namespace

std::unique_ptr<Family> make_emulated_family() { return std::make_unique<EmulatedFamily>(); }

}  // namespace mmafuzz
