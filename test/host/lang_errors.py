def t(f):
    try:
        return f()
    except ZeroDivisionError as e:
        return f"zero {e}"
    except (KeyError, IndexError) as e:
        return f"lookup {type(e).__name__} {e}"
    except ValueError:
        return "value"
    except Exception as e:
        return f"other {type(e).__name__}: {e}"
    finally:
        print("finally", end=" ")
print(t(lambda: 1 / 0)); print(t(lambda: {}[1])); print(t(lambda: [][1])); print(t(lambda: int("z"))); print(t(lambda: undefined)); print(t(lambda: None.x)); print(t(lambda: "ok"))
def fin():
    try:
        return "try"
    finally:
        print("cleanup")
print(fin())
def fin2():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
        finally:
            print("f", i)
    return i
print(fin2())
def override():
    try: raise ValueError
    finally: return "overridden"
print(override())
try:
    try: raise ValueError("inner")
    except ValueError as e: raise RuntimeError("outer") from e
except RuntimeError as e: print(e)
try:
    try: raise ValueError("again")
    except ValueError: raise
except ValueError as e: print("re", e)
try: assert 1 == 2, "message"
except AssertionError as e: print("assert", e)
try: assert 0
except AssertionError as e: print("assert", repr(e))
try: raise ValueError
except ValueError as e: print(repr(e), str(e) == "")
try: raise KeyError("k")
except LookupError as e: print(e, repr(e))
try: raise 5
except TypeError as e: print(e)
try: print("no error")
except: print("never")
else: print("else")
def rec(n): return rec(n + 1)
try: rec(0)
except RecursionError as e: print("recursion", e)
try:
    e = 1
    raise ValueError
except ValueError as e: pass
try: e
except NameError as x: print("e is gone:", x)
class MyErr(ValueError): pass
try: raise MyErr("mine", 2)
except ValueError as e: print(e, e.args, type(e).__mro__[1].__name__)
def chain():
    yield 1
    raise ValueError("in gen")
try: list(chain())
except ValueError as e: print(e)
print(isinstance(StopIteration(), Exception), issubclass(ModuleNotFoundError, ImportError), issubclass(NotImplementedError, RuntimeError))
try: import flash_attention_that_does_not_exist
except ImportError as e: print(type(e).__name__, e)
try: raise NotImplementedError("later")
except NotImplementedError as e: print(e)
for op in ["1 + 'a'", "[] + ()", "{} + {}", "None + 1", "-'a'", "~1.5", "[1] < 1", "1 < 'a'", "'a' @ 'b'", "5()", "5[0]", "None[0]", "len(3)", "(1).x", "'abc'.foo", "int.foo", "[1,2,3].push(1)"]:
    table = {"1 + 'a'": lambda: 1 + 'a', "[] + ()": lambda: [] + (), "{} + {}": lambda: {} + {}, "None + 1": lambda: None + 1, "-'a'": lambda: -'a', "~1.5": lambda: ~1.5, "[1] < 1": lambda: [1] < 1, "1 < 'a'": lambda: 1 < 'a', "'a' @ 'b'": lambda: 'a' @ 'b', "5()": lambda: (5)(), "5[0]": lambda: (5)[0], "None[0]": lambda: None[0], "len(3)": lambda: len(3), "(1).x": lambda: (1).x, "'abc'.foo": lambda: 'abc'.foo, "int.foo": lambda: int.foo, "[1,2,3].push(1)": lambda: [1, 2, 3].push(1)}
    try: table[op]()
    except Exception as e: print(op, "->", type(e).__name__, e)
