// Primes for orthogonal arrays, tables of digits 0..p-1 in whose few rows every two columns, or more, take every
// combination of digits (Rao 1947; Bush 1952): where p is a prime, a row's digits are polynomials modulo p.
#pragma once

namespace mmafuzz {

/// The least prime number that is at least n.
inline int prime_from(int n) {
  const auto is_prime = [](int x) {
    for (int d = 2; d * d <= x; ++d)
      if (x % d == 0) return false;
    return x > 1;
  };
  while (!is_prime(n)) ++n;
  return n;
}

}  // namespace mmafuzz
