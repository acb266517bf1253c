log = []
def noted(x):
    log.append(x)
    return x
g = (noted(i) * 10 for i in range(3)); print(log, next(g), log, list(g), log, list(g))
log = []; print(any(noted(i) for i in [0, 1, 2]), log); log = []; print(all(noted(i) for i in [1, 0, 2]), log)
for i in (noted(("in", j)) for j in range(2)): log.append("out")
print(log)
x = 5; late = (x + i for i in range(3)); x = 100; print(list(late), [list(k) for k in [(a * b for a in range(3)) for b in range(3)]])
items = [1, 2]; walk = (i for i in items); items.append(3); first = (i for i in items); items = [9]; print(list(walk), list(first))
print(list((a, b, c) for a in range(3) if a for b in range(a) for c in "xy" if (a, c) != (2, "y")), sum(a * b for a, b in zip([1, 2], [3, 4])), [*(i for i in "ab")])
def closed(n):
    k = [n]
    made = (i + k[0] for i in range(2))
    k[0] = 50
    return made
print(list(closed(1)))
class Body:
    n = 3
    kept = list(i for i in range(n))
print(Body.kept)
again = (next(again) for _ in range(2))
try:
    next(again)
except ValueError as e:
    print(e, list(again))
d = {1: 2, 3: 4}; k, v, kv = d.keys(), d.values(), d.items(); d[5] = 6
print(k, v, kv, len(k), 5 in k, 6 in v, (5, 6) in kv, (5, 7) in kv, list(reversed(k)), k == {1, 3, 5}, k - {1} == {3, 5}, {1, 7} | k == {1, 3, 5, 7}, k <= {1, 3, 5, 7})
print(k == d.keys(), v == d.values(), kv == d.items(), k == [1, 3, 5], k.isdisjoint([9]), bool({}.keys()), dict(kv), next(iter(k)), isinstance(k, list))
try:
    for key in k: d[key + 100] = 0
except RuntimeError as e:
    print(e)
l = [1, 2, 3]; r = reversed(l); l[0] = 9; l.append(4); print(list(r))
l = [3, 1, 2]; sizes = []; l.sort(key=lambda i: (sizes.append(len(l)), i)[1]); print(l, sizes)
nan = float("nan"); print(sorted([5, 3, nan, 1, 4]), sorted([5, 3, nan, 1, 4], reverse=True), sorted([nan, 3, nan, 1, 4, 2, 8, 7, nan, 0]))
from functools import cmp_to_key, lru_cache
calls = []
def compare(a, b):
    calls.append((a, b))
    return a - b
print(sorted([3, 1, 2, 5, 4], key=cmp_to_key(compare)), calls, cmp_to_key(compare)(1) == cmp_to_key(compare)(1), cmp_to_key(compare)(2) >= cmp_to_key(compare)(1))
seen = []
@lru_cache(maxsize=2)
def doubled(x, y=0):
    seen.append((x, y))
    return 2 * x
print([doubled(i) for i in (1, 2, 1, 3, 2, 1, 1.0, True)], doubled(1, 0), doubled(1, y=0), doubled(x=1, y=0), doubled(y=0, x=1), seen)
import itertools as it
w = iter(range(10)); t = it.takewhile(lambda i: i < 3, w); print(next(t), list(w)); w = iter(range(6)); print(list(it.takewhile(lambda i: i < 3, w)), list(w))
w = iter([1, 2, 3, 4]); z = it.zip_longest(w, [9]); print(next(z), list(w), list(z)); w = iter([1, 2, 3]); a, b = it.tee(w); print(next(a), list(w), list(a), list(b))
w = iter([1, 2, 3, 4]); print(next(it.pairwise(w)), list(w)); w = iter([1, 0, 1, 1]); print(next(it.compress("abcd", w)), list(w)); w = iter(range(9)); print(list(it.islice(w, 0, 5, 3)), list(w))
w = iter(range(9)); print(list(it.islice(w, 5, 3)), list(w)); groups = list(it.groupby("aab")); print([(key, list(m)) for key, m in groups], [(key, list(m)) for key, m in it.groupby("aabbbc")])
h = it.groupby("aabb"); one = next(h)[1]; two = next(h)[1]; print(list(one), list(two), list(h), it.count(1, 2), it.repeat("a", 2), isinstance(it.chain(), it.chain))
more = [1]; c = it.chain(more); more.append(2); print(list(c), list(it.chain.from_iterable([[1], "ab"])), [next(y) for y in [it.cycle("ab")] for _ in range(5)], list(it.accumulate([1, 2, 3], initial=5)))
made = []
@lru_cache
def listed(x):
    made.append(x)
    return [x]
print(listed(1) is listed(1), listed(1), made)
class OwnDict(dict): pass
class OwnSet(set): pass
print(isinstance(OwnDict(a=1).copy(), OwnDict), isinstance(OwnSet([1]) | {2}, OwnSet), isinstance(OwnSet([1]).copy(), OwnSet), isinstance(frozenset([1]) | {2}, frozenset))
