async def f(a, b: int = 3, /, c=4, *args: *Ts, d, e: str = 'x', **kw) -> int:
    async with (a as b, c as d, e): await x
    async for i, *j in y: yield
    return [x async for x in y if x if not z for (a, b), *c in d]
def g(*, a, b=2): pass
lambda a, /, b=3, *c, d=4, **e: (yield)
with (open(a), open(c)) as d, (e): pass
with (a, b,): pass
with (a): pass
try: x
except* (A, B) as e: y
except* C: z
else: w
finally: q
try:
    a
except:
    b
match x, *y:
    case [1, -2.5, 3+4j, 'a' 'b', None, *_] | (a, b) | {'k': v, A.b: 2, **rest} if (n := 10): pass
    case Point(x=0, y=Y.z) as p: pass
    case (1 | 2) as q: pass
    case str() | A.B(c, d=e): pass
    case -1, *rest: pass
    case _: pass
x: int = yield
(x): int
x.y: int = 3
a[1:2, ::3, *b, c:=4] += 1, *d
a = b = *c, d
print(*a, c=1, *d, **b) if x else y
{**a, 'b': c, **d}; {a, *b}; {a: b for c in d}; {a for b in c}; {}
not a in b is not c not in d < e != f
f'{x!r:>{w}.{p}}{y=}{{}}{a if b else c:{d}}' "z"; rb'x'
x = f"{a['b']}{lambda_}{{" f'{(lambda x: 1)}' u'z'
global a, b; nonlocal c
del a, (b, c), [d], e.f, g[0]
from . import (a as b, c,); from .x.y import *; import a.b.c as d, e
assert a, b; raise a from b
@a.b(c)
@d
class A(B, *C, metaclass=D, **E): x = 1; y = 2
for x in *a, b: break
else: continue
while (x := f(y)): pass
if a: pass
elif b: pass
else: pass
a if b else c if d else lambda: e
-a ** -b ** ~c @ d // e % f << g >> h & i ^ j | k
x = (yield from y)
x[a, :, b:c:d, ...]
await_ = 1_000.5e-3j + 0xFF_FF + 0o17 + 0b11 + .5
