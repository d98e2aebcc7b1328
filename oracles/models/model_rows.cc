#include "oracles/models/model_rows.h"

#include <charconv>
#include <map>
#include <algorithm>
#include <stdexcept>

#include "core/unit_name.h"
#include "core/text.h"
#include "oracles/models/gpu_names.h"
#include "oracles/models/parameters.h"

namespace mmafuzz {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The format's name of a PTX or AMD type name.
std::string format_of_type(const std::string& type) {
  static const std::map<std::string, std::string> names = {
      {"f64", "fp64"}, {"f32", "fp32"}, {"f16", "fp16"}, {"ue8m0", "e8m0"}, {"xf32", "tf32"}};
  const auto found = names.find(type);
  return found == names.end() ? type : found->second;
}

/// The number after the last 'k' or 'x' of a shape: m16n8k16, 32x32x8, 32x32x4_2b.
int k_of_shape(const std::string& shape) {
  int k = 0;
  std::from_chars(shape.data() + shape.find_last_of("kx") + 1, shape.data() + shape.size(), k);
  if (k < 1 || k > max_instruction_k) throw std::logic_error("no k in shape " + shape);
  return k;
}

/// "m64n128k16" as its three numbers; false if it is of another form.
bool parse_shape(std::string_view shape, int& m, int& n, int& k) {
  const char* p = shape.data();
  const char* end = p + shape.size();
  for (const auto& [letter, value] : {std::pair{'m', &m}, std::pair{'n', &n}, std::pair{'k', &k}}) {
    if (p == end || *p++ != letter) return false;
    const auto r = std::from_chars(p, end, *value);
    if (r.ec != std::errc{}) return false;
    p = r.ptr;
  }
  return p == end;
}

/// Whether this is a sparse instruction (`.sp`) of Hopper, whose row is that of the dense instruction with as many
/// products, that is, half its k: an H200 shows it, no other GPU was tested. The PTX ISA has no sparse fp64, and sparse
/// FP8 of `mma` only as m16n8k64 with fp32 results.
bool is_sparse_form(std::string_view name) {
  const bool fp8 = name.find(".e4m3") != name.npos || name.find(".e5m2") != name.npos;
  const bool wgmma = name.starts_with("hopper/wgmma.sp.m64n");
  return wgmma || (name.starts_with("hopper/mma.sp.m16n8k") && name.find(".f64") == name.npos &&
                   (!fp8 || name.find(".m16n8k64.f32.") != name.npos));
}

/// A row with what an op says of it: formats, scales, k and block, all fraction bits of d.
DotModel model_of_formats(const Op& op) {
  DotModel m;
  m.a = op.a.fields();
  m.b = op.b.fields();
  m.c = op.c.fields();
  m.d = op.d.fields();
  if (op.has_scales()) {
    m.scale_a = op.scale_a.fields();
    m.scale_b = op.scale_b.fields();
    m.scale_block = op.scale_block;
  }
  m.k = m.block = op.k;
  m.output_fraction_bits = m.d.fraction_bits;
  return m;
}

/// A row's name with the m and n of asynchronous instructions replaced by those that the table lists (m and n do not
/// change the arithmetic, docs/semantics.md 1), and sparse instructions by dense ones; other names stay.
std::string listed_name(std::string_view name) {
  std::vector<std::string> parts = split(name, '.');
  const bool sparse = is_sparse_form(name);
  if (sparse) parts.erase(parts.begin() + 1);
  for (std::string& part : parts) {
    int m = 0, n = 0, k = 0;
    if (!parse_shape(part, m, n, k)) continue;
    const bool n_valid = n >= 8 && n <= 256 && n % 8 == 0;
    if (sparse && k % 2 == 0) {
      k /= 2;
      part = part.substr(0, part.find('k') + 1) + std::to_string(k);
    }
    if (name.find("/wgmma.") != name.npos && m == 64 && n_valid) part = "m64n8k" + std::to_string(k);
    if (name.find("/tcgen05.") != name.npos && (m == 64 || m == 128) && n_valid) part = "m128n8k" + std::to_string(k);
  }
  return joined(parts, ".");
}

}  // namespace

std::string types_of(const std::string& d, const std::string& a, const std::string& b) {
  return d + "." + a + "." + b + "." + d;
}

ModelRow start_row(std::string arch, std::string instruction, std::string shape, std::string types) {
  ModelRow row;
  row.arch = std::move(arch);
  row.instruction = std::move(instruction);
  row.shape = std::move(shape);
  row.types = std::move(types);
  const std::vector<std::string> type = split(row.types, '.');
  row.op.kind = OpKind::dot;
  row.op.d = format(format_of_type(type.at(0)));
  row.op.a = format(format_of_type(type.at(1)));
  row.op.b = format(format_of_type(type.at(2)));
  row.op.c = format(format_of_type(type.at(3)));
  row.op.k = k_of_shape(row.shape);
  if (type.size() > 4) {
    row.op.scale_a = row.op.scale_b = format(format_of_type(type[4]));
    row.op.scale_block = row.instruction.ends_with("block16") ? 16 : 32;
  }
  row.model = model_of_formats(row.op);
  return row;
}

DotModel custom_model(const Op& op) {
  DotModel m = model_of_formats(op);
  m.kernel = op.has_scales() ? Kernel::fused_sum : Kernel::fma_chain;
  m.k = m.block = std::min(op.k, max_instruction_k);
  m.group = std::min(m.group, m.k);
  m.output_rounding = Rounding::nearest_even;
  m.overflow = Overflow::by_rounding;
  m.nan = m.invalid_nan = m.d.encode_nan();
  return m;
}

std::string custom_name(const DotModel& model, const Op& op) {
  const DotModel plain = custom_model(op);
  std::string settings;
  for (const Parameter& p : parameters()) {
    const std::string_view name = p.name;
    const bool is_always_named = name == "kernel" || name == "k" || name == "block" || name == "group";
    if (!p.used_by(model.kernel) || (!is_always_named && p.get(model) == p.get(plain))) continue;
    settings += (settings.empty() ? "" : ",") + std::string(name) + "=" + parameter_text(p, model);
  }
  return std::string("model:") + custom_row + "?" + settings;
}

std::string function_of(const ModelRow& row) { return custom_name(row.model, row.op) + " " + to_text(row.op); }

ModelRow start_ieee_row(const char* arch, const char* instruction, const char* shape, const std::string& types,
                        const NanRule& nan) {
  ModelRow row = start_row(arch, instruction, shape, types);
  row.model.output_rounding = Rounding::nearest_even;
  row.model.overflow = Overflow::by_rounding;
  row.model.nan = nan.constant ? nan.constant : row.op.d.fields().encode_nan();
  row.model.nan_from = nan.from;
  row.claims = claims_of({"monotone_in_addend", "monotone_in_c", "power_of_two_scaling", "product_value",
                          "product_value_and_exponent", "sign_symmetry", "split_k", "swap_operands", "zero_padding"});
  return row;
}

void RowList::fma_chain(const char* arch, const char* instruction, const std::vector<const char*>& shapes,
                        const std::string& type, const char* source, const NanRule& nan) {
  for (const char* shape : shapes) {
    ModelRow row = start_ieee_row(arch, instruction, shape, types_of(type, type, type), nan);
    row.model.kernel = Kernel::fma_chain;
    row.claims.push_back({"equals_model", "ieee:fma"});
    add(std::move(row), source);
  }
}

const std::vector<ModelRow>& model_rows() {
  static const std::vector<ModelRow> rows = [] {
    std::vector<ModelRow> all;
    for (const auto& vendor_rows : {nvidia_rows, amd_rows, rdna_rows, x86_rows, other_cpu_rows})
      for (ModelRow& row : vendor_rows()) all.push_back(std::move(row));
    return all;
  }();
  return rows;
}

const ModelRow* find_model_row(std::string_view name) {
  static const std::map<std::string, const ModelRow*, std::less<>> by_name = [] {
    std::map<std::string, const ModelRow*, std::less<>> map;
    for (const ModelRow& row : model_rows()) map[row.name()] = &row;
    return map;
  }();
  auto found = by_name.find(name);
  if (found == by_name.end()) found = by_name.find(listed_name(name));
  return found == by_name.end() ? nullptr : found->second;
}

std::optional<DotModel> row_of(const Unit& unit) {
  if (unit.model()) return *unit.model();
  for (const Claim& claim : unit.claims()) {
    const UnitName name(claim.detail);
    const ModelRow* row = name.backend == "model" ? find_model_row(name.path) : nullptr;
    if (!row || claim.property != "equals_model") continue;
    if (const Result<DotModel> model = with_overrides(row->model, name.settings)) return *model;
  }
  return std::nullopt;
}

bool is_provenance(std::string_view name) { return name.find('/') != name.npos && name.find(':') == name.npos; }

Result<std::string> model_of_provenance(std::string_view provenance) {
  const std::string text(provenance);
  const auto refuse = [&](const std::string& why) { return unknown("no model for '" + text + "': " + why); };
  const bool is_nvidia = provenance.starts_with("nvidia.");
  const size_t dot = provenance.find('.'), slash = provenance.find('/');
  const char* const expected =
      "expected nvidia.<gpu>/<instruction>.<d>.<ab> or nvidia.<gpu>/<a model's instruction>, or amd.<gpu>/...";
  if ((!is_nvidia && !provenance.starts_with("amd.")) || slash == provenance.npos) return refuse(expected);
  const std::string gpu(provenance.substr(dot + 1, slash - dot - 1));
  const char* arch = arch_of_gpu(gpu);
  if (!arch) return refuse("unknown GPU '" + gpu + "'");
  if (const ModelRow* named = find_model_row(std::string(arch) + std::string(provenance.substr(slash))))
    return "model:" + named->name();
  const std::vector<std::string> parts = split(provenance.substr(slash + 1), '.');
  if (parts.size() != 3) return refuse(expected);
  const bool is_wmma = is_nvidia && parts[0] == "wmma";
  const std::string instruction = is_wmma ? "mma" : parts[0];
  const bool takes_least_k = is_wmma && parts[2] == "tf32";  // wmma of tf32 is two steps with k = 4 (docs/gpu.md)
  const ModelRow* found = nullptr;
  for (const ModelRow& row : model_rows()) {
    if (row.arch != arch || row.instruction != instruction || row.op.has_scales()) continue;
    if (row.op.d.name() != parts[1] || row.op.c.name() != parts[1]) continue;
    if (row.op.a.name() != parts[2] || row.op.b.name() != parts[2]) continue;
    if (!found || (takes_least_k ? row.op.k < found->op.k : row.op.k > found->op.k)) found = &row;
  }
  if (!found) return refuse("the " + std::string(arch) + " models have no such instruction");
  return "model:" + found->name();
}

}  // namespace mmafuzz
