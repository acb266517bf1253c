class A:
    kind = "a"
    count = 0
    def __init__(self, v=0):
        self.v = v
        A.count += 1
    def who(self): return "A"
    def __repr__(self): return f"{type(self).__name__}({self.v})"
    @property
    def double(self): return self.v * 2
    @double.setter
    def double(self, x): self.v = x // 2
    @staticmethod
    def make(v): return A(v)
    @classmethod
    def create(cls, v): return cls(v)
class B(A):
    kind = "b"
    def __init__(self, v, w):
        super().__init__(v)
        self.w = w
    def who(self): return "B" + super().who()
    @classmethod
    def create(cls, v): return cls(v, 1)
class C(A):
    def who(self): return "C" + super().who()
class D(B, C):
    def who(self): return "D" + super().who()
a, b, d = A(1), B(2, 3), D(4, 5)
print(a, b, d, a.who(), b.who(), d.who(), b.kind, A.kind, A.count, [c.__name__ for c in D.__mro__])
a.double = 10; print(a.double, a.v, A.make(7), B.create(8), isinstance(b, A), isinstance(a, B), issubclass(D, C), type(a) is A, type(a).__name__)
print(hasattr(a, "v"), hasattr(a, "zz"), getattr(a, "zz", 9), getattr(a, "v")); setattr(a, "zz", 1); print(a.zz, a.__dict__); del a.zz; print(hasattr(a, "zz"))
try: a.double = "x"
except TypeError as e: print(e)
class V:
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return V(self.x + o.x, self.y + o.y) if isinstance(o, V) else NotImplemented
    def __radd__(self, o): return V(self.x + o, self.y + o)
    def __mul__(self, k): return V(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __sub__(self, o): return V(self.x - o.x, self.y - o.y)
    def __neg__(self): return V(-self.x, -self.y)
    def __abs__(self): return (self.x**2 + self.y**2) ** 0.5
    def __eq__(self, o): return isinstance(o, V) and (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __lt__(self, o): return abs(self) < abs(o)
    def __bool__(self): return bool(self.x or self.y)
    def __len__(self): return 2
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __setitem__(self, i, v): setattr(self, "xy"[i], v)
    def __contains__(self, v): return v in (self.x, self.y)
    def __iter__(self): return iter((self.x, self.y))
    def __call__(self, k): return self.x * k
    def __str__(self): return f"<{self.x},{self.y}>"
    def __iadd__(self, o): self.x += o.x; return self
    def __matmul__(self, o): return self.x * o.x + self.y * o.y
    def __truediv__(self, k): return V(self.x / k, self.y / k)
    def __pow__(self, k): return V(self.x**k, self.y**k)
    def __format__(self, spec): return f"V[{spec}]"
v, w = V(1, 2), V(3, 4)
print(str(v + w), str(v * 2), str(3 * v), str(5 + v), str(w - v), str(-v), abs(w), v == V(1, 2), v != w, v < w, w > v, bool(V(0, 0)), len(v), v[1], 2 in v, list(v), v(10), v @ w, str(w / 2), str(v**2), f"{v:abc}", {v: 1}[V(1, 2)])
v[0] = 9; v += w; print(str(v)); x, y = v; print(x, y, sorted([V(3, 3), V(1, 1)])[0].x, max(V(1, 0), V(5, 0)).x, sum([V(1, 1), V(2, 2)]).x)
try: v + "s"
except TypeError as e: print(e)
try: v < 3
except AttributeError as e: print(type(e).__name__)
except TypeError as e: print(e)
class G:
    def __getattr__(self, name):
        if name.startswith("dyn_"): return name[4:]
        raise AttributeError(f"no {name}")
    def __setattr__(self, name, value): object.__setattr__(self, name, value if name != "x" else value + 1)
g = G(); g.x = 1; print(g.x, g.dyn_hello, hasattr(g, "other"))
try: g.other
except AttributeError as e: print(e)
class It:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
print(list(It(3)), [x for x in It(2)], sum(It(4)))
class Ctx:
    def __enter__(self): print("enter"); return self
    def __exit__(self, t, v, tb): print("exit", t.__name__ if t else None); return t is ValueError
with Ctx() as c: print("in")
with Ctx(): raise ValueError("swallowed")
try:
    with Ctx(), Ctx(): raise KeyError("k")
except KeyError as e: print("got", e)
class Meta1:
    registry = []
    def __init_subclass__(cls, tag=None, **kw): Meta1.registry.append((cls.__name__, tag))
class M2(Meta1, tag="x"): pass
class M3(Meta1): pass
print(Meta1.registry)
class Priv:
    def __init__(self): self.__secret = 1
    def get(self): return self.__secret
p = Priv(); print(p.get(), hasattr(p, "__secret"), p._Priv__secret)
class S(dict):
    def __getattr__(self, k): return self[k]
    def total(self): return sum(self.values())
s = S(a=1, b=2); s["c"] = 3; print(s.a, s.total(), len(s), isinstance(s, dict), sorted(s))
class L(list):
    def first(self): return self[0]
l = L([1, 2]); l.append(3); print(l.first(), len(l), l, l + [4])
class E(Exception):
    def __init__(self, code, msg): super().__init__(msg); self.code = code
try: raise E(5, "boom")
except E as e: print(e, e.code, e.args, repr(e), isinstance(e, Exception))
print(a.who.__name__, A.who(a), (lambda s: s.who())(d), A.make.__name__)
class Slots:
    __slots__ = ("q",)
    def __init__(self): self.q = 1
print(Slots().q)
class Nested:
    class Inner:
        val = 3
    x = Inner.val * 2
    y = [i for i in range(3)]
    def m(self): return self.Inner().val + self.x
print(Nested().m(), Nested.y, Nested.Inner.val)
o1, o2 = object(), object(); print(o1 == o1, o1 == o2, o1 is not o2)
class N(int): 
    def plus(self): return int(self) + 1
def meth(self): return self.v + 100
A.extra = meth; print(a.extra(), b.extra())
from enum import Enum
class Color(Enum):
    RED = 1
    GREEN = 2
print(Color.RED, Color.RED.name, Color.GREEN.value, Color(2) is Color.GREEN, Color["RED"] == Color.RED, Color.RED != Color.GREEN)
from dataclasses import dataclass, field
@dataclass
class Pt:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)
    def norm(self): return self.x + self.y
print(Pt(1), Pt(1, 3).norm(), Pt(1) == Pt(1, 2), Pt(x=5, tags=[1]))
try: Pt()
except TypeError as e: print(e)
try: A(1, 2, 3)
except TypeError as e: print(e)
try: a.nothing
except AttributeError as e: print(e)
try: A.nothing
except AttributeError as e: print(e)
try: a()
except TypeError as e: print(e)
