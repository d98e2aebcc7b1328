// The family `cublas:`: dots and matrix products by cuBLAS on this machine's GPU, through the device child. A unit
// exists where a probe of its own shape shows that cuBLAS computes as the unit's name says.
#include <algorithm>
#include <cstring>

#include "core/function_unit.h"
#include "core/text.h"
#include "gpu_bridge/instructions/cublas_gemm.h"
#include "gpu_bridge/device/device_child.h"
#include "gpu_bridge/device/device_unit.h"
#include "gpu_bridge/families/device_units.h"

namespace mmafuzz {
namespace {

using Arithmetic = CublasRow::Arithmetic;
constexpr std::string_view cublas_prefix = "cublas:";
constexpr uint64_t most_probe_calls = 8;  ///< in one probe

/// The parameters after `?` in a unit's name.
struct CublasParameters {
  int tile = 64;     ///< number of dots that are the diagonal of one product
  int bits = 55;     ///< BlasGemm::bits
  int specials = 1;  ///< BlasGemm::specials
};

struct CublasParameter {
  const char *name, *meaning;
  int least, greatest;
  int CublasParameters::*value;
  bool (*is_taken)(const CublasRow& row, const Op& op);  ///< whether units of this row take the parameter for this op
  const char* zero = "";                                 ///< the word for the value 0; empty: there is none

  std::string allowed() const {
    return std::to_string(least) + ".." + std::to_string(greatest) + (*zero ? std::string(" or ") + zero : "");
  }
  bool parse(std::string_view text, int& number) const {
    number = 0;
    if (*zero && text == zero) return true;
    return parse_number(text, number) && number >= least && number <= greatest;
  }
};
bool is_fixed_point(const CublasRow& row) {
  return row.arithmetic == Arithmetic::emulated && row.operand == format("fp64");
}

const CublasParameter cublas_parameters[] = {
    {"tile", "dots: so many are the diagonal of one product", 1, 256, &CublasParameters::tile,
     [](const CublasRow&, const Op& op) { return op.kind == OpKind::dot; }},
    {"bits", "emulated fp64: significand bits that are retained; auto: cuBLAS chooses them from the matrices", 1, 200,
     &CublasParameters::bits, [](const CublasRow& row, const Op&) { return is_fixed_point(row); }, "auto"},
    {"specials", "emulated: 1 asks for infinities and NaNs", 0, 1, &CublasParameters::specials,
     [](const CublasRow& row, const Op&) { return row.arithmetic == Arithmetic::emulated; }},
};

Result<CublasParameters> parse_parameters(std::string_view text, const CublasRow& row, const Op& op) {
  CublasParameters parameters;
  std::string allowed;
  for (const CublasParameter& p : cublas_parameters)
    if (p.is_taken(row, op)) allowed += (allowed.empty() ? "" : ", ") + std::string(p.name) + "=" + p.allowed();
  for (const auto& [name, number] : settings_of(text)) {
    const CublasParameter* found = nullptr;
    for (const CublasParameter& p : cublas_parameters)
      if (name == p.name && p.is_taken(row, op)) found = &p;
    int value = 0;
    if (!found || !found->parse(number, value))
      return invalid(in_quotes(name + "=" + number) + ": expected " + (allowed.empty() ? "no parameters" : allowed));
    parameters.*found->value = value;
  }
  return parameters;
}

/// How cases of an op become calls of cuBLAS. Each case of a gemm is one call: the columns of b are the columns of
/// `first`, the rows of a those of `second`, so that the column-major result is the row-major d. `tile` dots share a
/// call as the diagonal of its result.
class Calls {
 public:
  Calls(const CublasRow& row, const Op& op, const CublasParameters& parameters)
      : op_(op),
        operand_bytes_(size_t(row.operand.storage_bytes())),
        result_bytes_(size_t(row.result.storage_bytes())) {
    const bool dots = op.kind == OpKind::dot;
    per_call_ = dots ? static_cast<size_t>(parameters.tile) : 1;
    // cuBLAS takes 8-bit integers in multiples of 4; zeros as padding change no integer sum.
    const int multiple = row.operand.fields().integer ? 4 : 1;
    const auto padded = [&](int extent) { return (extent + multiple - 1) / multiple * multiple; };
    call_.rows = padded(dots ? parameters.tile : op.n);
    call_.columns = padded(dots ? parameters.tile : op.m);
    call_.k = padded(op.k);
    call_.bits = parameters.bits;
    call_.specials = parameters.specials;
    call_.alpha = op.alpha.value_or(one_of(op.d));
    call_.beta = op.beta.value_or(one_of(op.d));
  }

  const BlasGemm& call() const { return call_; }
  BlasOperands zeros(size_t calls) const {
    return {std::vector<uint8_t>(calls * first_bytes()), std::vector<uint8_t>(calls * second_bytes()),
            std::vector<uint8_t>(calls * result_bytes())};
  }
  size_t count(size_t cases) const { return (cases + per_call_ - 1) / per_call_; }
  /// How many calls are sent in one request: at most 64 MiB of operands and results, but at least one call.
  size_t calls_at_once() const {
    return std::max<size_t>(1, (size_t{64} << 20) / (first_bytes() + second_bytes() + result_bytes()));
  }
  size_t cases_at_once() const { return calls_at_once() * per_call_; }

  /// Writes case `index` of the batch to the buffers of a request as its case number `place` (from 0).
  void put(const Batch& batch, size_t index, size_t place, BlasOperands& sent) const {
    const size_t k = size_t(op_.k), call = place / per_call_;
    uint8_t* first = &sent.first[call * first_bytes()];
    uint8_t* second = &sent.second[call * second_bytes()];
    if (op_.kind == OpKind::dot) {
      const size_t diagonal = place % per_call_;
      for (size_t l = 0; l < k; ++l) {
        put_operand(first, diagonal, l, op_.b, batch.b().get(index, int(l)));
        put_operand(second, diagonal, l, op_.a, batch.a().get(index, int(l)));
      }
      write(&sent.result[call * result_bytes()], cell(diagonal, diagonal), result_bytes_, batch.c().get(index));
      return;
    }
    for (size_t i = 0; i < size_t(op_.m); ++i)
      for (size_t l = 0; l < k; ++l) put_operand(second, i, l, op_.a, batch.a().get(index, int(i * k + l)));
    for (size_t j = 0; j < size_t(op_.n); ++j)
      for (size_t l = 0; l < k; ++l) put_operand(first, j, l, op_.b, batch.b().get(index, int(l * size_t(op_.n) + j)));
    for (size_t i = 0; i < size_t(op_.m); ++i)
      for (size_t j = 0; j < size_t(op_.n); ++j)
        write(&sent.result[call * result_bytes()], cell(j, i), result_bytes_,
              batch.c().get(index, int(i * size_t(op_.n) + j)));
  }

  /// Reads the result of case number `place` of a request as the result of case `index` of the batch.
  void take(const std::vector<uint8_t>& received, size_t place, size_t index, Column& results) const {
    const uint8_t* result = &received[place / per_call_ * result_bytes()];
    if (op_.kind == OpKind::dot) return results.set(index, 0, read(result, cell(place % per_call_, place % per_call_)));
    for (size_t i = 0; i < size_t(op_.m); ++i)
      for (size_t j = 0; j < size_t(op_.n); ++j)
        results.set(index, int(i * size_t(op_.n) + j), read(result, cell(j, i)));
  }

 private:
  size_t first_bytes() const { return size_t(call_.rows) * size_t(call_.k) * operand_bytes_; }
  size_t second_bytes() const { return size_t(call_.columns) * size_t(call_.k) * operand_bytes_; }
  size_t result_bytes() const { return size_t(call_.rows) * size_t(call_.columns) * result_bytes_; }
  /// The position of an element in a column-major result.
  size_t cell(size_t row, size_t column) const { return column * size_t(call_.rows) + row; }
  void put_operand(uint8_t* matrix, size_t vector, size_t l, const Format& format, uint64_t encoding) const {
    // tf32 is passed as fp32, where the bits that tf32 ignores would be read as fraction bits: clear them.
    write(matrix, vector * size_t(call_.k) + l, operand_bytes_, encoding & ~low_mask(format.fields().ignored_low_bits));
  }
  static void write(uint8_t* matrix, size_t element, size_t bytes, uint64_t encoding) {
    std::memcpy(matrix + element * bytes, &encoding, bytes);
  }
  uint64_t read(const uint8_t* matrix, size_t element) const {
    uint64_t encoding = 0;
    std::memcpy(&encoding, matrix + element * result_bytes_, result_bytes_);
    return encoding;
  }

  Op op_;
  BlasGemm call_;
  size_t operand_bytes_, result_bytes_, per_call_ = 1;
};

std::unique_ptr<Unit> make_cublas_unit(std::shared_ptr<DeviceChild> child, int row, const Calls& calls) {
  return make_device_unit([child, row, calls](const Batch& batch, Outcomes& outcomes) {
    for (size_t start = 0; start < batch.size(); start += calls.cases_at_once()) {
      const size_t cases = std::min(calls.cases_at_once(), batch.size() - start), count = calls.count(cases);
      BlasOperands sent = calls.zeros(count);
      for (size_t i = 0; i < cases; ++i) calls.put(batch, start + i, i, sent);
      const Result<std::vector<uint8_t>> received = child->gemm(row, calls.call(), count, sent);
      if (!received) throw DeviceLost("cuBLAS took the probe but not the batch: " + received.refusal().reason);
      for (size_t i = 0; i < cases; ++i) calls.take(*received, i, start + i, outcomes.results);
    }
  });
}

std::string ops_of(const CublasRow& row) {
  const std::string &a = row.operand.name(), &d = row.result.name();
  return "dot or gemm a=" + a + " b=" + a + " c=" + d + " d=" + d;
}

Result<bool> fits(const CublasRow& row, const Op& op) {
  if ((op.kind != OpKind::dot && op.kind != OpKind::gemm) || op.a != row.operand || op.b != row.operand ||
      op.c != row.result || op.d != row.result || op.has_scales())
    return declined(std::string(cublas_prefix) + row.name + " takes '" + ops_of(row) + "'");
  return true;
}

class CublasFamily final : public Family {
 public:
  explicit CublasFamily(std::shared_ptr<DeviceChild> child) : child_(std::move(child)) {}

  bool owns(std::string_view name) const override { return has_more_after(cublas_prefix, name); }

  Role role(const std::string&) const override { return Role::device; }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (size_t i = 0; i < cublas_rows().size(); ++i) {
      const CublasRow& row = cublas_rows()[i];
      Op op = dot_op(row.operand.name(), row.result.name(), row.result.name(), 16);
      const Result<bool> ready = passes_probe(static_cast<int>(i), Calls(row, op, {}));
      all.push_back({std::string(cublas_prefix) + row.name,
                     ops_of(row) + " by cublasGemmEx, CUBLAS_COMPUTE_" + row.compute,
                     "cuBLAS 13",
                     {},
                     ready ? "" : ready.refusal().reason});
    }
    return all;
  }

  /// The units with a claim. Each product is a call of its own, so that the other units would slow a search down and
  /// find nothing.
  std::vector<std::string> searched_by_default(const Op& op) const override {
    std::vector<std::string> names;
    for (const CublasRow& row : cublas_rows())
      if (fits(row, op) && !claims(row, op, {}).empty()) names.push_back(std::string(cublas_prefix) + row.name);
    return names;
  }

  FamilyParameters parameters() const override {
    FamilyParameters all{"cublas:", {}};
    for (const CublasParameter& p : cublas_parameters) all.parameters.push_back({p.name, p.meaning, p.allowed()});
    return all;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const UnitName parts(name);
    const int index = find_cublas_row(parts.path);
    if (index < 0) return unknown("no unit " + parts.plain() + "; 'mmafuzz list --units cublas:*' has them");
    const CublasRow& row = cublas_rows()[static_cast<size_t>(index)];
    const Result<bool> fit = fits(row, op);
    if (!fit) return fit.refusal();
    const Result<CublasParameters> parameters = parse_parameters(parts.settings, row, op);
    if (!parameters) return invalid("unit " + name + ": " + parameters.refusal().reason);
    const Calls calls(row, op, *parameters);
    const Result<bool> ready = passes_probe(index, calls);
    if (!ready) return ready.refusal();
    return named(make_cublas_unit(child_, index, calls), name, claims(row, op, *parameters));
  }

 private:
  /// Emulated fp64 matrix products equal a unit of mmafuzz; no model describes the rest.
  static std::vector<Claim> claims(const CublasRow& row, const Op& op, const CublasParameters& parameters) {
    if (!is_fixed_point(row) || op.kind != OpKind::gemm) return {};
    return {
        {"equals_model", "ozaki:dgemm.cublas?bits=" + (parameters.bits ? std::to_string(parameters.bits) : "auto")}};
  }

  /// Whether a probe shows that cuBLAS takes calls of this shape and computes them as the row says, natively or
  /// emulated.
  Result<bool> passes_probe(int index, const Calls& calls) const {
    const Result<DeviceInfo> device = child_->info();
    if (!device) return declined(device.refusal().reason);
    const CublasRow& row = cublas_rows()[static_cast<size_t>(index)];
    BlasGemm call = calls.call();
    call.alpha = call.beta = one_of(row.result);
    if (call.bits == 0)
      call.bits = CublasParameters().bits;  // the probe's span would make cuBLAS choose native arithmetic
    const bool any = row.arithmetic == Arithmetic::any;
    const uint64_t count = any ? 1 : std::min(most_probe_calls, calls.calls_at_once());
    const Probe probe = any ? Probe{calls.zeros(count), {}} : make_probe(row, call, count);
    try {
      const Result<std::vector<uint8_t>> got = child_->gemm(index, call, count, probe.operands);
      if (!got) return got.refusal();
      const bool native = *got == probe.native;
      if (row.arithmetic == Arithmetic::emulated && native)
        return declined("cuBLAS did not emulate: the probe has the results of native arithmetic");
      if (row.arithmetic == Arithmetic::native && !native)
        return declined("cuBLAS did not run natively: the probe has other results than IEEE arithmetic");
      return true;
    } catch (const DeviceLost& lost) {
      return declined(std::string("the probe lost the device: ") + lost.what());
    }
  }

  std::shared_ptr<DeviceChild> child_;
};

}  // namespace

std::unique_ptr<Family> make_cublas_family(std::shared_ptr<DeviceChild> child) {
  return std::make_unique<CublasFamily>(std::move(child));
}

}  // namespace mmafuzz
