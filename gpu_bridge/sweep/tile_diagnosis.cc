#include "gpu_bridge/sweep/tile_diagnosis.h"

#include <set>

namespace mmafuzz {
namespace {

/// The second of two tiles that ran side by side.
struct Seen {
  const SweepRequest& request;
  const Tiles all;
  std::vector<uint64_t> got, before, claimed;  ///< d, the first tile's d, the model's d; by cell

  Seen(const SweepRequest& r, TileBuffers& tiles) : request(r), all(tiles.view()) {
    const TileShape& s = r.shape;
    for (int cell = 0; cell < s.cells(); ++cell) {
      before.push_back(read_element(all.d, s.d_bits / 8, cell));
      got.push_back(read_element(tiles_from(s, all, 1).d, s.d_bits / 8, cell));
      claimed.push_back(sweep::claimed_result(r.model, sweep::Cell(r, all, r.first_tile + 1, cell).in));
    }
  }
  bool differs(int cell) const { return !sweep::is_as_claimed(request, got[size_t(cell)], claimed[size_t(cell)]); }
};

/// Whether a changed model explains every dot of the tile: change(cell, operands) changes the operands.
template <class Change>
bool explains(const Seen& seen, const Change& change) {
  for (int cell = 0; cell < seen.request.shape.cells(); ++cell) {
    sweep::Cell operands(seen.request, seen.all, seen.request.first_tile + 1, cell);
    change(cell, operands);
    if (!sweep::is_as_claimed(seen.request, seen.got[size_t(cell)],
                              sweep::claimed_result(seen.request.model, operands.in)))
      return false;
  }
  return true;
}

std::string of_bits(const Seen& seen) {
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

std::string of_places(const Seen& seen) {
  const TileShape& s = seen.request.shape;
  const auto copy_vector = [&](int cell_from, sweep::Cell& to, bool rows) {
    const sweep::Cell from(seen.request, seen.all, seen.request.first_tile + 1, cell_from);
    for (int i = 0; i < s.k; ++i) (rows ? to.a[i] : to.b[i]) = rows ? from.a[i] : from.b[i];
    for (int i = 0; i < s.scales; ++i)
      (rows ? to.scale_a[i] : to.scale_b[i]) = rows ? from.scale_a[i] : from.scale_b[i];
  };
  for (int step = 1; step < std::max(s.m, s.n); step *= 2) {
    const std::string by = " and their number xor " + std::to_string(step);
    const auto other_row = [&](int cell) { return (cell / s.n ^ step) * s.n + cell % s.n; };
    const auto other_column = [&](int cell) { return cell / s.n * s.n + (cell % s.n ^ step); };
    if (step < s.m) {
      if (explains(seen, [&](int cell, sweep::Cell& x) { copy_vector(other_row(cell), x, true); }))
        return "swapped fragments of a: rows" + by;
      const auto row_of_c = [&](int cell, sweep::Cell& x) {
        x.in.c = sweep::Cell(seen.request, seen.all, seen.request.first_tile + 1, other_row(cell)).in.c;
      };
      if (explains(seen, row_of_c)) return "swapped fragments of c: rows" + by;
      if (explains(seen, [&](int cell, sweep::Cell& x) {
            copy_vector(other_row(cell), x, true);
            row_of_c(cell, x);
          }))
        return "swapped fragments of d: rows" + by;
    }
    if (step < s.n) {
      if (explains(seen, [&](int cell, sweep::Cell& x) { copy_vector(other_column(cell), x, false); }))
        return "swapped fragments of b: columns" + by;
      if (explains(seen, [&](int cell, sweep::Cell& x) {
            copy_vector(other_column(cell), x, false);
            x.in.c = sweep::Cell(seen.request, seen.all, seen.request.first_tile + 1, other_column(cell)).in.c;
          }))
        return "swapped fragments of d: columns" + by;
    }
  }
  return "";
}

}  // namespace

std::string diagnose_tile(const SweepRequest& request, TileBuffers& tiles, const RunTiles& run) {
  run(tiles);
  const Seen seen(request, tiles);
  bool any = false;
  for (int cell = 0; cell < request.shape.cells(); ++cell) any |= seen.differs(cell);
  if (!any) return "not seen when the tile ran again";
  if (std::string bits = of_bits(seen); !bits.empty()) return bits;
  if (request.shape.c_bits == request.shape.d_bits &&
      explains(seen, [&](int cell, sweep::Cell& x) { x.in.c = seen.before[size_t(cell)]; }))
    return "stale accumulator: c is the d of the tile before";
  if (explains(seen, [&](int, sweep::Cell& x) { x.in.c = 0; })) return "c is not read";
  return of_places(seen);
}

}  // namespace mmafuzz
