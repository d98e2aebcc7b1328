// SHA-256 of one block, over and over with another first word (FIPS 180-4, section 6.2.2): integer work whose rate on
// GPUs is published, for `ci/check-device-code --calibrate`.
#include <cstdint>

namespace {

__constant__ uint32_t not_folded;

__constant__ const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint32_t turned(uint32_t x, int by) { return __funnelshift_r(x, x, by); }

}  // namespace

/// found[0] counts the digests whose first word is that of `target`.
__global__ void sha256_rate(const uint32_t* block, uint32_t first, uint32_t count, uint32_t target, uint32_t* found) {
  uint32_t message[16];
  for (int i = 0; i < 16; ++i) message[i] = block[i] + not_folded;
#pragma unroll 1
  for (uint32_t n = 0; n < count; ++n) {
    uint32_t w[16],
        s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; ++i) w[i] = message[i];
    w[0] = first + blockIdx.x * blockDim.x + threadIdx.x + n;
#pragma unroll
    for (int t = 0; t < 64; ++t) {
      if (t >= 16) {
        const uint32_t x = w[(t - 15) % 16], y = w[(t - 2) % 16];
        w[t % 16] +=
            (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(t - 7) % 16] + (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
      }
      const uint32_t a = s[0], e = s[4];
      const uint32_t one =
          s[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[t] + w[t % 16];
      const uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      for (int i = 7; i > 0; --i) s[i] = s[i - 1];
      s[4] += one;
      s[0] = one + two;
    }
    if (s[0] + 0x6a09e667 == target) atomicAdd(found, 1);
  }
}
