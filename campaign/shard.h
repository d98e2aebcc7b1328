// A campaign in N parts, each a process of its own, perhaps on another host: which part of the plan is whose, and who
// owns the folder of a part.
//
//   OUT/campaign.json         what all shards agree on; whoever comes first writes it
//   OUT/shards/003-of-008/    the campaign folder of a shard
//   OUT/exchange/             campaign/exchange.h
#pragma once

#include <string>
#include <vector>

#include "campaign/plan.h"
#include "campaign/state.h"

namespace mmafuzz {

/// Shard number `index` of `count`, from 1; 0 of 0: the campaign is not divided.
struct Shard {
  unsigned index = 0, count = 0;
  explicit operator bool() const { return count > 0; }
  std::string name() const;  ///< "003-of-008"
};

/// "3/8". Throws BadInput.
Shard shard_from_text(const std::string& text);

/// The shard's part of a plan: the assignments lie end to end, as long as their time slices, and the line is cut into
/// `count` equal pieces. So each shard has the same time, few shards share an assignment, and every part of every
/// assignment is somebody's. Of --cases, each assignment's cases are divided so.
Plan part_of(const Plan& plan, const Shard& shard);

/// A plan in a few words, other ones for another plan: what a machine has not (an engine, say) is not in its plans.
std::string plan_words(const Plan& plan);

/// The folders of the shards that have begun, by name.
std::vector<std::string> shard_folders(const std::string& out);

/// Puts down what all shards agree on, or compares with what is there: targets, ops, units, engines, seed, time, cases,
/// number of shards. Sets what names the campaign (its uuid) to that of the first. Throws BadInput where another shard
/// was started with something else.
void agree(CampaignSettings& settings, const std::string& out);

/// The right to a shard's folder, without a lock that would have to be held across hosts: a file with a sign of life.
/// Whoever finds one that does not move takes over, and the earlier owner, should it live after all, sees that and
/// ends. Clocks are not compared.
class ShardLease {
 public:
  /// Throws BadInput where another process works on the shard. `patience`: seconds to watch a sign of life from another
  /// host.
  explicit ShardLease(const std::string& folder, double patience = 7);
  ~ShardLease();
  ShardLease(const ShardLease&) = delete;
  ShardLease& operator=(const ShardLease&) = delete;

  /// A name of this process that no other has on any host.
  std::string writer() const { return owner_.substr(owner_.rfind(' ') + 1); }

  /// Gives a sign of life; to be called every two seconds or so. False where another process has taken over.
  bool beat();

 private:
  void write();

  std::string file_, owner_;
  unsigned long beats_ = 0;
  bool mine_ = true;
};

}  // namespace mmafuzz
