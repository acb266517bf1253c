s = "Hello, World"
print(s.lower(), s.upper(), s.swapcase(), s.title(), s.capitalize(), len(s))
print(s[0], s[-1], s[2:5], s[::-1], s[:5], s[7:], s[-5:-2], s[100:], s[::3])
print(s.split(","), s.split(), "a b  c".split(), "a,b,,c".split(","), "a,b,c".split(",", 1), "a,b,c".rsplit(",", 1), "x\ny\n".splitlines())
print("-".join(["a", "b", "c"]), ", ".join(str(i) for i in range(4)), s.replace("l", "L"), s.replace("l", "L", 1))
print(s.find("o"), s.rfind("o"), s.find("z"), s.index("W"), s.count("l"), s.startswith("Hello"), s.endswith(("x", "ld")))
print("  x ".strip() + "|", "xxaxx".strip("x"), "  x ".lstrip() + "|", "  x ".rstrip() + "|")
print("abc".ljust(6) + "|", "abc".rjust(6, "."), "abc".center(7, "*"), "42".zfill(5), "-42".zfill(5))
print("abc".isalpha(), "123".isdigit(), "a1".isalnum(), " ".isspace(), "Abc".isupper(), "abc".islower())
print("a=b=c".partition("="), "a=b=c".rpartition("="), "prefix_x".removeprefix("prefix_"), "x.py".removesuffix(".py"))
print("ab" * 3, "a" + "b", "ell" in s, "z" not in s, "a" < "b", "abc" < "abd", "Z" < "a")
print(repr("it's"), repr('say "x"'), repr("a\nb\t\\"), repr("\x00\x1f"), str("x"), repr("é"))
print("héllo"[1], len("héllo"), "héllo"[::-1], "héllo".find("l"), [c for c in "aé"], ord("é"), chr(233), ord("A"), chr(97))
print("%d %s %r %5d|%-5d|%05d %x %X %o %e %.3f %g %%" % (1, "a", "b", 42, 42, 42, 255, 255, 8, 12345.678, 3.14159, 0.0001))
print("%s and %s" % ("x", [1, 2]), "%(a)d-%(b)s" % {"a": 1, "b": 2}, "%s" % 5, "%5.1f|%+d|% d" % (2.25, 3, 4), "%*d" % (5, 42))
print("{} {}".format(1, 2), "{1} {0}".format("a", "b"), "{x:>5}|{y!r}".format(x=1, y="q"), "{0[1]} {1.real}".format([1, 2], 3), "{{}}".format())
x, y, name = 3.14159, 1234567, "bob"
print(f"{x:.2f} {y:,} {y:_} {name:>6}|{name:<6}|{name:^7}| {name!r} {x!s} {y:08d} {y:+d} {y:e} {x:10.3f}|{-y:,}")
print(f"{255:x} {255:#x} {255:b} {5:03b} {0.25:.1%} {1e10:g} {123456789.0:g} {x:g} {x:.3} {100.0:.3} {1.0:.1f} {True} {None} {[1, 'a']}")
print(f"{'nested ' + f'{x:.{1 + 1}f}'} {{literal}} {x = } {name=!s} {y:>{10}}|")
print(f"{1234.5:,.2f} {0.000123:.2e} {1e100} {1e-7} {12:5}|{12:<5}|{12:^5}|{'a':*^5}|{3.0} {2.5:05.1f} {-2.5:07.2f}")
print("tab\tx".expandtabs(), "A".casefold(), "abc".encode(), b"abc".decode(), b"a\x00", "a\\b", r"a\nb")
print("""multi
line""", 'con' "cat", "a" "b" f"{1}")
for bad in [lambda: "a" + 1, lambda: "%d" % "x", lambda: "%d %d" % 1, lambda: "{}".format(), lambda: "abc".index("z"), lambda: "abc"[5], lambda: f"{'a':d}", lambda: "x" * "y", lambda: ",".join([1])]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
