"""Numbers that come out the same on every machine, for the generator of the shipped models.

Rationals rounded to float32 when told to, integer square roots, and SplitMix64 (Steele, Lea, Flood,
"Fast Splittable Pseudorandom Number Generators", 2014). No function of the C library is involved.
"""

import math
import struct
from fractions import Fraction


def to_float32(value):
    """The float32 nearest to a rational, as a rational."""
    return Fraction(struct.unpack("<f", struct.pack("<f", value.numerator / value.denominator))[0])


def square_root(value):
    """The square root of a rational to about 60 bits."""
    shift = 1 << 64
    root = math.isqrt(value.numerator * value.denominator * shift * shift)
    return Fraction(root, value.denominator * shift)


def nearest(value):
    """The nearest integer to a rational, halves away from zero."""
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        """64 random bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return z ^ (z >> 31)

    def between(self, low, high):
        """A rational in [low, high)."""
        return low + (high - low) * Fraction(self.bits() >> 44, 1 << 20)

    def bell(self):
        """An integer in [-131070, 131070], near normal: a sum of four uniform ones."""
        z = self.bits()
        return (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48) - 131070

    def weights(self, count):
        """`count` near normal integers in [-127, 127] of which one at least is at an end."""
        drawn = [self.bell() for _ in range(count)]
        largest = max(1, max(abs(value) for value in drawn))
        # Rounded with halves away from zero, in integers.
        return [
            (254 * abs(value) + largest) // (2 * largest) * (1 if value >= 0 else -1)
            for value in drawn
        ]
