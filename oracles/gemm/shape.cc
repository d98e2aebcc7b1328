#include "oracles/gemm/shape.h"

#include <unistd.h>

namespace mmafuzz::gemm {
namespace {

std::string text(MatrixSize s) { return std::to_string(s.rows) + "x" + std::to_string(s.columns); }

}  // namespace

int64_t memory_bytes() { return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

Result<Shape> checked_shape(MatrixSize a, MatrixSize b, MatrixSize c, int64_t bytes_per_element, int64_t available) {
  for (const auto& [name, size] : {std::pair{"a", a}, {"b", b}, {"c", c}})
    if (size.rows < 0 || size.columns < 0)
      return invalid(std::string("matrix ") + name + " has a negative size: " + text(size));
  if (a.columns != b.rows)
    return invalid("a is " + text(a) + " and b is " + text(b) + ": a needs as many columns as b has rows");
  if (c.rows != a.rows || c.columns != b.columns)
    return invalid("c is " + text(c) + ", but a times b is " + text({a.rows, b.columns}));
  int64_t needed = 0;
  for (const MatrixSize& size : {a, b, c, /*d=*/c}) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(size.rows, size.columns, &bytes) ||
        __builtin_mul_overflow(bytes, bytes_per_element, &bytes) || __builtin_add_overflow(needed, bytes, &needed) ||
        needed > available)
      return invalid("matrices of " + text(a) + ", " + text(b) + " and " + text(c) + " do not fit in " +
                     std::to_string(available >> 20) + " MiB of memory");
  }
  return Shape{a.rows, b.columns, a.columns};
}

}  // namespace mmafuzz::gemm
