import dataclasses
from dataclasses import dataclass, field, fields, asdict, astuple, replace, KW_ONLY
from typing import ClassVar, NamedTuple, Optional, Sequence, Union, List, Callable
from collections import namedtuple, Counter, defaultdict, OrderedDict, deque
import collections.abc as abc
import copy, numbers, operator, math
@dataclass(order=True)
class Pair:
    a: int
    b: str = ""
@dataclass(frozen=True)
class Key:
    a: int = 1
    shared: ClassVar[int] = 3
@dataclass
class Shown:
    a: int = field(default=3, repr=False)
    b: int = field(default=4, compare=False)
    c: Optional[int] = field(default=None, metadata={"k": 1})
    d: List[int] = field(default_factory=list)
@dataclass
class After:
    a: int
    _: KW_ONLY
    b: int = 2
@dataclass
class Tree:
    key: Key
    some: list
    by: dict
    both: tuple
print(Pair(1) < Pair(2), Pair(1, "a") >= Pair(1, "b"), sorted([Pair(2), Pair(1)]), max(Pair(1), Pair(3)), {Key(1): 2}[Key(1)], Key(), Key.shared, [f.name for f in fields(Key)])
print(Shown(), Shown(b=1) == Shown(b=2), Shown(a=1) == Shown(a=2), Shown(d=[1]), fields(Shown)[2].metadata["k"], After(1, b=5), [f.kw_only for f in fields(After)], len(fields(After)))
t = Tree(Key(2), [Key(3), 1], {"k": Key(4)}, (Key(5),)); print(asdict(t), astuple(t), replace(t, some=[]).some, asdict(Pair(1), dict_factory=list), t.some[0] is replace(t).some[0])
N = namedtuple("N", "a b a _c def", rename=True); print(N._fields, N(1, 2, 3, 4, 5), namedtuple("P", "x y", defaults=[7])(1)._replace(x=3)._asdict())
print(Counter("aab") + Counter("bc"), Counter("aab") - Counter("a"), Counter("aab") | Counter("bbc"), Counter("aab") & Counter("bbc"), +Counter(a=-1, b=2), Counter(a=1) == Counter(a=1, b=0), Counter(a=1) <= Counter(a=2))
o = OrderedDict(a=1, b=2, c=3); o.move_to_end("c", last=False); print(o, OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1) == {"a": 1}, o | {"d": 4}, OrderedDict.fromkeys("ab"))
d = defaultdict(int, {"z": 1}); print(d | {"k": 1}, (d | {})["new"], isinstance(d.copy(), defaultdict), copy.copy(d), deque([1, 2]) < deque([1, 3]), deque([1]) * 2, copy.copy(deque([1, 2], maxlen=2)))
kinds = [[], (), "", b"", {}, set(), frozenset(), range(1), iter([]), zip(), {}.keys(), {}.values(), {}.items(), deque(), Counter(), 1, 1.5, None, len, lambda: 0, int, slice(1), Key, (x for x in ())]
for kind in [abc.Iterable, abc.Iterator, abc.Sequence, abc.MutableSequence, abc.Mapping, abc.Set, abc.Hashable, abc.Sized, abc.Container, abc.Collection, abc.Callable, numbers.Number, numbers.Integral, numbers.Rational, Sequence, Callable, List]:
    print("".join(["01"[isinstance(k, kind)] for k in kinds]))
print(isinstance("a", Union[int, str]), isinstance(None, Optional[int]), isinstance(1.5, int | str), List is list, abc.Iterable is Sequence, slice(1, 2) == slice(1, 2, None), slice(1) < slice(2))
print((1.5).hex(), (-0.0).hex(), (5e-324).hex(), (-1.1).hex(), math.hypot(1, 1, 1), math.hypot(0.1, 0.2, 0.3), math.fsum([1.0, 2**-53, 2**-106]), math.fsum([0.1] * 10), b"b" in b"abc")
print("ab".center(5, "*"), " a  b c ".split(None, 1), "abc".find("", 5), "éab".find("a", 1), "a".startswith("\x00"), "%.3d|%#.3x|%05s|%+ d" % (5, 5, "a", 5), "{:>08.2f}|{:<08.2f}".format(3.14159, 3.14159))
print(operator.attrgetter("key.a", "both")(t), operator.methodcaller("split", ",")("a,b"), operator.xor(6, 3), operator.not_(0), operator.contains([1], 1))
