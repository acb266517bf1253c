from collections import deque, OrderedDict, defaultdict, Counter
from abc import ABC, abstractmethod
from enum import Enum
class E(Enum):
    A = 1
    B = 2
print([e.name for e in E], list(E), E.A in E, isinstance(deque(), list))
d = deque([1, 2, 3], maxlen=2); d.append(9); print(d, d[0], d[-1], len(d), 9 in d, list(reversed(d)), d == deque([3, 9]), d.copy(), bool(deque()), deque("ab"))
class D(dict): pass
print(OrderedDict(a=1, b=[2]), OrderedDict(), D(a=1), defaultdict(int, {1: 2}), Counter("abbc"), Counter())
class Base(ABC):
    @abstractmethod
    def f(self): ...
    @abstractmethod
    def g(self): ...
    def h(self): return 1
class Half(Base):
    def f(self): return 1
class Full(Half):
    def __init__(self, q): self.q = q
    def g(self): return 2
for c in (Base, Half):
    try: c()
    except TypeError as e: print(e)
print(Full(3).q, Full(q=3).g())
for q in d: print(q)
try: d["a"]
except TypeError as e: print(e)
