#include <set>

#include "gpu_bridge/sweep/sweep_run.h"

namespace mmafuzz {
namespace {

/// The second of two tiles after they ran.
struct SecondTile {
  const SweepRequest& request;
  const Tiles all;
  std::vector<uint64_t> got, before, claimed;  ///< by cell: its d, the first tile's d, the model's d

  SecondTile(const SweepRequest& r, TileBuffers& tiles) : request(r), all(tiles.view()) {
    const TileShape& s = r.shape;
    for (int cell = 0; cell < s.cells(); ++cell) {
      before.push_back(read_element(all.d, s.d_bits / 8, cell));
      got.push_back(read_element(tiles_from(s, all, 1).d, s.d_bits / 8, cell));
      claimed.push_back(sweep::claimed_result(r.model, operands(cell).in));
    }
  }
  sweep::Cell operands(int cell) const { return {request, all, request.first_tile + 1, cell}; }
  bool differs(int cell) const { return !sweep::is_as_claimed(request, got[size_t(cell)], claimed[size_t(cell)]); }
};

/// Whether the model on changed operands explains the d of every cell; change(cell, operands) changes them.
template <class Change>
bool explains(const SecondTile& seen, const Change& change) {
  for (int cell = 0; cell < seen.request.shape.cells(); ++cell) {
    sweep::Cell operands = seen.operands(cell);
    change(cell, operands);
    if (!sweep::is_as_claimed(seen.request, seen.got[size_t(cell)],
                              sweep::claimed_result(seen.request.model, operands.in)))
      return false;
  }
  return true;
}

/// The text for d's that all differ in the same bits; empty if there is no such explanation. If one lane holds all of
/// them, it is named.
std::string text_of_wrong_bits(const SecondTile& seen) {
  const TileShape& s = seen.request.shape;
  std::set<uint64_t> flips;
  std::set<int> cells;
  for (int cell = 0; cell < s.cells(); ++cell)
    if (seen.differs(cell)) {
      flips.insert(seen.got[size_t(cell)] ^ seen.claimed[size_t(cell)]);
      cells.insert(cell);
    }
  if (flips.size() != 1) return "";
  std::string what = "wrong bits " + std::to_string(*flips.begin()) + " of d";
  if (std::has_single_bit(*flips.begin()))
    what = "wrong bit " + std::to_string(std::countr_zero(*flips.begin())) + " of d";
  if (s.family != TileFamily::wmma)
    for (int lane = 0; lane < s.lanes(); ++lane) {
      std::set<int> held;
      for (int i = 0; i < s.c_elements(); ++i) {
        const Place p = c_place(s, s.d_bits, lane, i);
        held.insert(p.row * s.n + p.column);
      }
      if (std::includes(held.begin(), held.end(), cells.begin(), cells.end()))
        return what + " in lane " + std::to_string(lane);
    }
  return what;
}

/// The text for operands or d's of two rows (or columns) that are exchanged, throughout the tile, with those whose
/// number differs in one bit; empty if there is no such explanation.
std::string text_of_exchange(const SecondTile& seen) {
  const TileShape& s = seen.request.shape;
  for (int step = 1; step < std::max(s.m, s.n); step *= 2)
    for (const bool rows : {true, false}) {
      if (step >= (rows ? s.m : s.n)) continue;
      const auto partner_of = [&](int cell) {
        const int row = cell / s.n, column = cell % s.n;
        return seen.operands(rows ? (row ^ step) * s.n + column : row * s.n + (column ^ step));
      };
      const auto swap_vector = [&](int cell, sweep::Cell& x) {
        const sweep::Cell partner = partner_of(cell);
        for (int i = 0; i < s.k; ++i) (rows ? x.a[i] : x.b[i]) = rows ? partner.a[i] : partner.b[i];
        for (int i = 0; i < s.scales; ++i)
          (rows ? x.scale_a[i] : x.scale_b[i]) = rows ? partner.scale_a[i] : partner.scale_b[i];
      };
      const auto swap_c = [&](int cell, sweep::Cell& x) { x.in.c = partner_of(cell).in.c; };
      const auto swap_both = [&](int cell, sweep::Cell& x) {
        swap_vector(cell, x);
        swap_c(cell, x);
      };
      const std::string swapped = "swapped fragments of ",
                        which = (rows ? ": rows" : ": columns") + (" and their number xor " + std::to_string(step));
      if (explains(seen, swap_vector)) return swapped + (rows ? "a" : "b") + which;
      if (rows && explains(seen, swap_c)) return swapped + "c" + which;
      if (explains(seen, swap_both)) return swapped + "d" + which;
    }
  return "";
}

}  // namespace

std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run) {
  run(tiles);
  const SecondTile seen(request, tiles);
  bool any = false;
  for (int cell = 0; cell < request.shape.cells(); ++cell) any |= seen.differs(cell);
  if (!any) return "not seen when the tile ran again";
  if (std::string bits = text_of_wrong_bits(seen); !bits.empty()) return bits;
  if (request.shape.c_bits == request.shape.d_bits &&
      explains(seen, [&](int cell, sweep::Cell& x) { x.in.c = seen.before[size_t(cell)]; }))
    return "stale accumulator: c is the d of the tile before";
  if (explains(seen, [&](int, sweep::Cell& x) { x.in.c = 0; })) return "c is not read";
  return text_of_exchange(seen);
}

}  // namespace mmafuzz
