// The walks of integer dots: every product of narrow operands in every lane, integer_corners() in lanes near each
// other, and sums next to every power of two.
#include <memory>

#include "search/datapath_walks.h"
#include "search/integer_dot.h"
#include "search/walk_case.h"

namespace mmafuzz {

void DatapathWalks::add_integer_parts() {
  const FormatFields fa = op_.a.fields(), fb = op_.b.fields();
  const uint64_t k = static_cast<uint64_t>(op_.k);
  // The parts keep a copy of the op: they outlive this call.
  const Op op = op_;
  if (fa.width + fb.width <= 16) {
    const uint64_t pairs = uint64_t{1} << (fa.width + fb.width);
    add("integer pairs", {pairs * std::min<uint64_t>(k, longest_part / pairs), pairs},
        [op, fa, pairs](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
          IntegerDot dot(op, batch, index, rng);
          dot.draw();
          const int lane = static_cast<int>(n / pairs);
          dot.set_lane(lane, n % pairs & fa.container_mask(), n % pairs >> fa.width);
        });
  }
  // An adder of two, three or four neighbouring products may be narrower than that of the whole sum.
  const auto corners_a = std::make_shared<std::vector<uint64_t>>(integer_corners(fa));
  const auto corners_b = std::make_shared<std::vector<uint64_t>>(integer_corners(fb));
  const uint64_t products = corners_a->size() * corners_b->size(), tuples = products * products;
  const uint64_t distances = std::min<uint64_t>(k - 1, 3);
  add("corners of two", {tuples * distances * k, tuples},
      [op, corners_a, corners_b, products, tuples, distances](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
        IntegerDot dot(op, batch, index, rng);
        const bool others_zero = rng.one_in(2);
        dot.draw();
        if (others_zero)
          for (int lane = 0; lane < op.k; ++lane) dot.set_lane(lane, 0, 0);
        const uint64_t tuple = n % tuples, place = n / tuples;
        const int lane = static_cast<int>(place / distances);
        const int other = (lane + 1 + static_cast<int>(place % distances)) % op.k;
        const auto set = [&](int to, uint64_t product) {
          dot.set_lane(to, (*corners_a)[product % corners_a->size()], (*corners_b)[product / corners_a->size()]);
        };
        set(lane, tuple % products);
        set(other, tuple / products);
      });
  if (!op_.c.fields().integer) return;
  // Each power of two of both signs, and the four numbers next to it, as the sum of c and each number of first
  // products.
  const int powers = op_.c.fields().width + 1;
  add("integer sums", static_cast<uint64_t>(powers) * 2 * 5 * (k + 1),
      [op, powers](Batch& batch, size_t index, CounterRng& rng, uint64_t n) {
        IntegerDot dot(op, batch, index, rng);
        dot.draw_lanes();
        const int step = take_digit(n, 5) - 2;
        const bool negative = take_digit(n, 2);
        const __int128 power = static_cast<__int128>(1) << take_digit(n, powers);
        dot.aim_c(static_cast<int>(n), (negative ? -power : power) + step);
      });
}

}  // namespace mmafuzz
