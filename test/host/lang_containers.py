a = [3, 1, 2]
a.append(5); a.extend([7, 8]); a.insert(0, 9); a.insert(-1, 6)
print(a, len(a), a[1:4], a[::-1], a[-3:], a[::2], 5 in a, 99 not in a)
print(a.pop(), a.pop(0), a, a.index(2), a.count(1)); a.remove(1); a.reverse(); print(a); a.sort(); print(a); a.sort(reverse=True); print(a)
a[1] = 100; a[2:4] = [1, 2, 3]; print(a); del a[0]; del a[1:3]; print(a); a[::2] = [0] * len(a[::2]); print(a); a.clear(); print(a)
b = [1, 2] + [3]; b += (4, 5); b *= 2; print(b, [0] * 3, [[]] * 2, b.copy() is b, list("abc"), list(range(5)), list((1, 2)))
t = (1, "a", 2.5); print(t, t[1], t + (3,), t * 2, (1,), (), t.index("a"), t.count(1), len(t), tuple([1, 2]), 1 in t)
x, y, *z = [1, 2, 3, 4]; print(x, y, z); *p, q = "abc"; print(p, q); (m, n), o = (1, 2), 3; print(m, n, o); f, *g, h = range(6); print(f, g, h)
i, j = 1, 2; i, j = j, i; print(i, j); [k, l] = (1, 2); print(k, l)
d = {"a": 1, "b": 2}; d["c"] = 3; print(d, d["a"], d.get("z"), d.get("z", 0), "a" in d, len(d), list(d), list(d.keys()), list(d.values()), list(d.items()))
d.update({"a": 10}, e=5); print(d, d.pop("e"), d.pop("zz", None), d.setdefault("a", 1), d.setdefault("n", []), d); del d["b"]; print(d)
print({**d, "x": 1}, d | {"y": 2}, dict(a=1, b=2), dict([("k", 1)]), dict(zip("ab", (1, 2))), {k: v for k, v in zip("xy", range(2))}, d.popitem(), d.copy(), dict.fromkeys("ab", 0))
for k in sorted(d): print(k, d[k])
print({1: "int", 1.0: "float", True: "bool"}, {(1, 2): 3}[(1, 2)], {None: 0}[None], {} == {}, {"a": 1, "b": 2} == {"b": 2, "a": 1})
s = {1, 2, 3}; s.add(4); s.discard(9); s.remove(1); print(sorted(s), 2 in s, sorted(s | {9}), sorted(s & {2, 3, 7}), sorted(s - {2}), sorted(s ^ {2, 10}), s <= {2, 3, 4, 5}, s == {4, 3, 2}, len(s), set(), frozenset([1]) == {1})
print(sorted({3, 1, 2}), sorted("hello"), sorted([(2, "b"), (1, "z"), (2, "a")]), sorted(["bb", "a", "ccc"], key=len, reverse=True), sorted([1, -3, 2], key=abs))
print(list(zip([1, 2, 3], "abc")), list(enumerate("ab", 1)), list(map(lambda v: v * 2, [1, 2])), list(filter(None, [0, 1, "", "a"])), list(reversed([1, 2, 3])), any([0, 1]), all([]), all([1, 0]))
print([i * j for i in range(3) for j in range(3) if i != j], [[c for c in r] for r in ["ab", "cd"]], {x % 3 for x in range(10)} == {0, 1, 2}, [*range(3), *"ab"], (*[1], 2), [y := 5, y + 1])
print([1, 2] < [1, 3], (1, 2) < (1, 2, 0), [1, [2, 3]] == [1, [2, 3]], [] == (), [1, 2] != [1, 2])
r = range(10, 0, -3); print(r, list(r), len(r), r[1], r[-1], 7 in r, 8 in r, r[1:], range(5) == range(0, 5), list(range(0)), range(3)[::-1])
sl = slice(1, 5, 2); print([0, 1, 2, 3, 4, 5][sl], sl)
it = iter([1, 2]); print(next(it), next(it), next(it, "end")); print(list(zip(*[(1, 2), (3, 4)])), dict(enumerate("ab")))
nested = {"l": [1, {"d": (2, 3)}]}; nested["l"][1]["d"] += (4,); print(nested); matrix = [[1, 2], [3, 4]]; matrix[0][1] += 10; print(matrix)
for bad in [lambda: [1][3], lambda: {}["k"], lambda: (1,)[2], lambda: [].pop(), lambda: [1].remove(2), lambda: {[]: 1}, lambda: [1, 2].index(3), lambda: next(iter([])), lambda: [1, 2]["a"], lambda: sorted([1, "a"]), lambda: len(5), lambda: list(5), lambda: {1}.pop() and {}.popitem(), lambda: range(1, 2, 0)]:
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
try:
    u, v = [1, 2, 3]
except ValueError as e:
    print(e)
try:
    u, v = [1]
except ValueError as e:
    print(e)
try:
    u, v = 5
except TypeError as e:
    print(e)
import copy, itertools, functools, collections
c = [[1], 2]; e = copy.deepcopy(c); e[0].append(5); w = copy.copy(c); w[0].append(9); print(c, e, w)
print(list(itertools.chain([1], [2, 3])), list(itertools.product("ab", [1, 2])), list(itertools.islice(itertools.count(5), 3)), list(itertools.combinations("abc", 2)), list(itertools.accumulate([1, 2, 3])), list(itertools.repeat(7, 2)), list(itertools.permutations([1, 2, 3], 2)), list(itertools.zip_longest([1, 2], [3], fillvalue=0)))
print(functools.reduce(lambda a, b: a + b, [1, 2, 3], 10), functools.partial(lambda a, b, c=0: (a, b, c), 1, c=5)(2))
P = collections.namedtuple("P", ["x", "y"]); pt = P(1, y=2); print(pt, pt.x, pt[1], pt._replace(x=5), pt == (1, 2)); dd = collections.defaultdict(int); dd["a"] += 1; print(dict(dd)); print(collections.Counter("abca").most_common(1)); od = collections.OrderedDict([("a", 1)]); od["b"] = 2; print(list(od.items())); dq = collections.deque([1, 2], maxlen=2); dq.append(3); print(list(dq), dq.popleft())
s = slice(-1, None, -2)
print(s.start, s.stop, s.step, s.indices(7), slice(3).indices(10), slice(2, 100, 3).indices(5), range(2, 9, 3).start, range(5).stop, range(5).step)
