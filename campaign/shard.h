// Shards: a campaign in N parts, each a process of its own, perhaps on another host. Which part of the plan each shard
// has, and which process owns the folder of a shard.
//
//   OUT/campaign.json          what all shards agree on; the first one writes it
//   OUT/shards/0003-of-0008/   the campaign folder of a shard
//   OUT/exchange/              campaign/exchange.h
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
  std::string name() const;  ///< "0003-of-0008"
};

/// Reads "3/8". Throws BadInput.
Shard shard_from_text(const std::string& text);

/// The shard's part of a plan. The assignments lie end to end, as long as their time slices, and this line is cut into
/// `count` equal pieces. So each shard has the same time, few shards share an assignment, and every part of every
/// assignment belongs to a shard. With --cases, each assignment's cases are divided in the same way.
Plan part_of(const Plan& plan, const Shard& shard);

/// A plan in a few words, which differ for other plans: a plan lacks what its machine lacks (an engine, say).
std::string plan_words(const Plan& plan);

/// The folders of the shards that have begun, sorted by name.
std::vector<std::string> shard_folders(const std::string& out);

/// Writes down in folder `out` what all shards must agree on, or compares it with what the first shard wrote: version,
/// settings and plan. Sets uuid and start of the campaign to those of the first shard. Throws BadInput where the first
/// was started with something else.
void agree(CampaignSettings& settings, const std::string& out);

/// The right to a shard's folder, without a lock that would have to be held across hosts: a file with a counter that
/// its owner increases. A process that sees the counter unchanged takes over; the earlier owner, should it still run,
/// sees that at its next beat() and ends. Clocks are not compared.
class ShardLease {
 public:
  /// Throws BadInput where another process works on the shard. `patience`: seconds to wait for another host's sign of
  /// life.
  explicit ShardLease(const std::string& folder, double patience = 7);
  ~ShardLease();
  ShardLease(const ShardLease&) = delete;
  ShardLease& operator=(const ShardLease&) = delete;

  /// A name that no other process on any host has.
  std::string nonce() const { return owner_.substr(owner_.rfind(' ') + 1); }

  /// Gives a sign of life; to be called about every two seconds. False once another process has taken over.
  bool beat();

 private:
  void write();

  std::string file_;
  std::string owner_;  ///< "HOST SPACE PID START NONCE"
  unsigned long beats_ = 0;
  bool is_mine_ = true;
};

}  // namespace mmafuzz
