import numpy as np

np.random.seed(42)
print(np.random.rand(3).tolist(), np.random.uniform(-1, 2, (2, 2)).tolist(), np.random.randint(0, 10, 5).tolist(), int(np.random.randint(5)), np.random.randint(-2**40, 2**40, 3).tolist())
print(np.random.permutation(8).tolist(), np.random.choice(10, 4, False).tolist(), np.random.choice(5, 3).tolist(), np.random.choice([10, 20, 30], 4).tolist(), np.random.choice(4, 6, p=[0.1, 0.2, 0.3, 0.4]).tolist())
x = [1, 2, 3, 4, 5]
np.random.shuffle(x)
y = np.arange(6).reshape(3, 2)
np.random.shuffle(y)
print(x, y.tolist(), np.random.permutation(np.array([5, 6, 7])).tolist(), float(np.random.random()))
np.random.seed(7)
print([round(v, 12) for v in np.random.randn(5).tolist()], [round(v, 12) for v in np.random.normal(1, 2, 3).tolist()])
