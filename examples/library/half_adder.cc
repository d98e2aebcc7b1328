// Searches a dot product of the caller's, which sums in fp32 in index order and so differs from the exact result and
// from tensor cores.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mmafuzz/mmafuzz.h>

namespace mf = mmafuzz::v1;

namespace {

const char op[] = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 nan=any";

float value_of_half(std::uint64_t bits) {
  const int fraction = bits & 0x3ff, exponent = bits >> 10 & 0x1f;
  const float magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                          : exponent == 0 ? std::ldexp(float(fraction), -24)
                                          : std::ldexp(float(fraction + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

/// The unit: fields 0, 1 and 2 of a dot are a, b and c.
void serial_sum(const mf::Batch& batch, std::vector<std::uint64_t>& results) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::uint32_t c = static_cast<std::uint32_t>(batch.get(i, 2));
    float sum;
    std::memcpy(&sum, &c, sizeof sum);
    for (std::size_t j = 0; j < batch.fields()[0].count; ++j)
      sum += value_of_half(batch.get(i, 0, j)) * value_of_half(batch.get(i, 1, j));
    std::uint32_t bits;
    std::memcpy(&bits, &sum, sizeof bits);
    results[i] = bits;
  }
}

}  // namespace

int main() {
  std::printf("mmafuzz %s\n", mf::version().c_str());

  // One case on two units.
  mf::Batch batch(op);
  batch.add("1. 1. 1. 1. | 0x1p-24 0x1p-24 0x1p-24 0x1p-24 | 1.");
  const mf::Unit mine("serial_sum", op, serial_sum, "ieee:serial"), exact("exact", op);
  std::printf("serial_sum %08llx, exact %08llx\n", (unsigned long long)mine.run(batch).encodings[0],
              (unsigned long long)exact.run(batch).encodings[0]);

  // Cases with expected results: those of exact.
  batch.add("1. 1. 1. 1. | 0x1p-24 0x1p-24 0x1p-24 0x1p-24 | 1. | 3f800002");
  mf::Check check(mine);
  check.add(batch);
  std::printf("%zu compared, %zu mismatches, %zu without a result\n", check.compared(), check.mismatches().size(),
              check.without_result());

  // Search where serial_sum differs from ieee:serial, which it claims to equal, and from Hopper's tensor cores.
  mf::Search search(op);
  search.with(mine).with("h100").seed(1);
  bool keeps_its_claim = true;
  for (const mf::Finding& finding : search.run(20000)) {
    keeps_its_claim = keeps_its_claim && finding.severity != "contract";
    if (finding.units.size() == 2)
      std::printf("%s %s %s: %s\n", finding.severity.c_str(), finding.property.c_str(), finding.value_class.c_str(),
                  finding.cause.c_str());
  }
  std::printf("%s\n", keeps_its_claim ? "equals ieee:serial" : "does not equal ieee:serial");
  return keeps_its_claim ? 0 : 1;
}
