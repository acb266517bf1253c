def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
print(f(1, c=3), f(1, 2, 3, 4, c=5, e=6), f(*[1, 2], **{"c": 3, "z": 9}), f(1, *(2, 3), c=0, **{"d": 1}))
def pos(a, b, /, c, *, d): return a, b, c, d
print(pos(1, 2, 3, d=4), pos(1, 2, c=3, d=4))
for bad in [lambda: f(), lambda: f(1), lambda: f(1, a=2, c=3), lambda: pos(1, 2, 3, 4), lambda: pos(a=1, b=2, c=3, d=4), lambda: (lambda x: x)(1, 2), lambda: (lambda x, y=1: x)(), lambda: pos(1, 2, 3), lambda: pos(1, d=1)]:
    try:
        print(bad())
    except TypeError as e:
        print(e)
def outer():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    def get(): return n
    return inc, get
inc, get = outer(); inc(); inc(5); print(get())
fs = [lambda i=i: i for i in range(3)]; print([g() for g in fs]); fs = [lambda: i for i in range(3)]; print([g() for g in fs])
counter = 0
def bump():
    global counter
    counter += 1
bump(); bump(); print(counter)
def fact(n): return 1 if n <= 1 else n * fact(n - 1)
print(fact(30))
def default_list(x, acc=[]):
    acc.append(x); return acc
print(default_list(1), default_list(2))
def deco(tag):
    def wrap(fn):
        def inner(*a, **k): return f"{tag}:{fn(*a, **k)}"
        return inner
    return wrap
@deco("A")
@deco("B")
def hello(name): return "hi " + name
print(hello("x"), hello.__name__)
def gen(n):
    for i in range(n):
        yield i * i
    yield from [100, 200]
print(list(gen(3)), sum(gen(4)), [v for v in gen(2)], next(iter(gen(3))), max(x * 2 for x in gen(3)), dict((k, 1) for k in "ab"), tuple(i for i in (1, 2)))
def early(x):
    if x > 0:
        return "pos"
    for i in range(10):
        if i == 3: return i
print(early(1), early(-1))
def loops():
    out = []
    for i in range(10):
        if i == 2: continue
        if i == 5: break
        out.append(i)
    else:
        out.append("never")
    for i in []: pass
    else: out.append("else")
    n = 3
    while n:
        n -= 1
        if n == 1: continue
        out.append(n)
    else:
        out.append("done")
    return out
print(loops())
def unbound():
    try:
        print(zz)
    except NameError as e:
        print(type(e).__name__, e)
    try:
        y = y + 1
    except UnboundLocalError as e:
        print(e)
unbound()
def shadow(list): return [list for list in (list, 1)]
print(shadow(5), (lambda *a, **k: (a, k))(1, b=2), (lambda: (yield_ := 3) + yield_)())
print((lambda x: lambda y: x + y)(1)(2), [f(1) for f in [lambda x: x + 1, lambda x: x * 10]])
def kwonly(*, a, b=1): return a, b
print(kwonly(a=3)); 
def tern(x): return "a" if x else "b" if x is None else "c"
print(tern(1), tern(None), tern(0))
x = 5
def reads_global(): return x
x = 6
print(reads_global(), callable(reads_global), callable(5))
if (m := 10) > 5: print(m)
total = 0
while (total := total + 3) < 10: pass
print(total)
print([last := v for v in range(3)], last)
def many(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t): return a+t+len([b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s])
print(many(*range(20)), many(**{c: i for i, c in enumerate("abcdefghijklmnopqrst")}))
def matcher(v):
    match v:
        case 0: return "zero"
        case [a, b]: return f"pair {a} {b}"
        case [a, *rest]: return f"list {a} {rest}"
        case {"k": x, **rest}: return f"dict {x} {rest}"
        case str() as s if len(s) > 3: return f"long {s}"
        case str(): return "short"
        case 1 | 2: return "one or two"
        case None: return "none"
        case _: return "other"
print([matcher(v) for v in [0, [1, 2], [1, 2, 3], {"k": 1, "z": 2}, "hello", "hi", 2, None, 9.5]])
