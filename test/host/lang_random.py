import random

random.seed(42)
print(random.random(), random.uniform(1, 5), random.randint(1, 100), random.randrange(10), random.randrange(5, 50, 3), random.choice("abcdef"))
x = list(range(10)); random.shuffle(x); print(x, random.gauss(0, 1), random.gauss(0, 1), random.randint(0, 2**60))
random.seed(-7); print(random.random()); random.seed(2**40 + 3); print(random.random())
print(random.randrange(-2**63, 2**63 - 1), random.randrange(2**63 - 1, -2**63, -3), random.randint(-2**63, 2**63 - 1))
