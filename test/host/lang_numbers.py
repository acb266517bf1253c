# ints are exact, division and modulo have Python's signs, floats print shortest
print(7 // 2, -7 // 2, 7 // -2, -7 // -2, 7 % 3, -7 % 3, 7 % -3, -7 % -3)
print(7.5 // 2, -7.5 // 2, 7.5 % 2, -7.5 % 2, 7.5 % -2, 1e300 * 10)
print(1 / 3, 2 / 4, -1 / 8, 10**20 / 3, 1e16, 1e15, 1.5e-5, 0.0001, 123456789.123)
print(2**10, 2**64, 2**100, (-2) ** 63, (-3) ** 41, 2**-2, 0**0, 1**1000)
print(10**30, 10**30 + 1, 10**30 - 10**30, 10**30 * -7, 10**40 // 10**20, -(10**40) // 7, 10**40 % 97, -(10**40) % 97)
print(9223372036854775807 + 1, -9223372036854775808 - 1, 9223372036854775807 * 2, -9223372036854775808 // -1)
print(1 << 70, (1 << 70) >> 68, -1 >> 3, -(1 << 70) >> 69, 5 & 3, 5 | 3, 5 ^ 3, ~5, -5 & 0xFF, (1 << 70) & ((1 << 71) - 1))
print((1 << 70) | 1, (1 << 70) ^ (1 << 70), -(1 << 70) & 0xFFFF)
print(0xFF, 0o17, 0b101, 1_000_000, 0xFFFFFFFFFFFFFFFFFF)
print(round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, -2), round(15, -1), round(25, -1), round(1e300, 2))
print(abs(-3), abs(-3.5), abs(-(10**30)), divmod(17, 5), divmod(-17, 5), divmod(7.5, 2))
print(int(3.9), int(-3.9), int("42"), int(" -7 "), int("ff", 16), int("0b101", 0), int(True), int(1e20), float("1e-3"), float("inf"), float(3))
print(pow(2, 10), pow(2, 10, 1000), pow(3, 200, 13), bin(10), hex(255), oct(8), bin(-5))
print(True + True, True * 3, True == 1, 1 == 1.0, 2**53 == 2.0**53, 2**53 + 1 == 2.0**53, hash(1) == hash(1.0))
print(1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 == True, 3 > 2 >= 2, not 0, not "")
print((5).bit_length(), (0).bit_length(), (2**100).bit_length(), (255).bit_count(), (0.5).is_integer(), (4.0).is_integer())
print(max(3, 1, 2), min([4, 2, 8]), max("abc", key=lambda c: -ord(c)), max([], default=7), sum([1, 2, 3]), sum([0.1] * 3), sum([[1], [2]], []))
print(float("nan") == float("nan"), float("inf") > 10**400, -float("inf") < -(10**400), 1e400)
print(str(1.0), repr(0.1), 1e-10, 100000000000000000.0, 5e-324, 1.7976931348623157e308, -0.0)
for bad in [lambda: 1 // 0, lambda: 1.0 / 0, lambda: 5 % 0, lambda: 1 << -1, lambda: int("x"), lambda: float("y"), lambda: 0**-1, lambda: int(float("nan"))]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
import math

print(math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.log(8, 2), math.log2(8), math.gcd(12, 18), math.prod([2, 3, 4]), math.pi)
print(math.factorial(25), math.comb(10, 3), math.isqrt(99), math.hypot(3, 4), math.fmod(-7, 3), math.isclose(0.1 + 0.2, 0.3), math.trunc(-2.7))
print(math.inf, -math.inf, math.isnan(math.nan), math.copysign(1, -0.0), math.erf(0.5), math.lcm(4, 6), math.fsum([0.1] * 10))
print("a,b,c".split(",", -2**63), "a b c".split(None, -2**63), "a,b,c".rsplit(",", -2**63), (-2**63).bit_count(), math.lcm(-2**62, 6))

# Integers beyond 53 bits: quotients are rounded once, comparisons with floats are exact.
print(10**400 / 10**399, 10**400 / 3**800, (2**63 - 1) / (2**62 - 1), 9007199254740993 / 1, -(2**70) / (2**69 + 1))
print(10**25 == 1e25, 10**25 > 1e25, -(10**25) < -1e25, 2**1023 + 1 > 2.0**1023, 2**63 - 1 < 2.0**63, 10**22 == 1e22)
print("%*d|" % (-5, 3), "%0*d|" % (-6, 42), "%.*f" % (-3, 2.5))
for f in (lambda: 10**400 * 1.0, lambda: 2**1024 / 1):
    try:
        print(f())
    except OverflowError as e:
        print(e)
