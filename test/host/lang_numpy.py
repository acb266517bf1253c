import numpy as np
import torch


def show(*values):
    for v in values:
        if isinstance(v, np.ndarray):
            print(v.shape, v.dtype, v.tolist())
        elif isinstance(v, float):
            print(float(v))
        elif isinstance(v, (list, tuple)):
            show(*v)
        else:
            print(v)


a = np.array([[1, 2, 3], [4, 5, 6]])
f = np.array([0.5, 1.5, 2.5], dtype=np.float32)
show(a, f, np.array([True, False]), np.array([]), np.array(3.5) * 2)
# promotion
show(a + 1, a + 0.5, a / 2, a // 2, a % 2, a**2, f + 1, f * 2.0, a + f, f + np.array([1, 2, 3], dtype=np.int8), a > 2, (a > 2) & (a < 5), -a, abs(-f))
show(1 / f, 2 - a, 2 ** np.arange(4), 7 // a, f == 1.5, ~(f > 1), np.float32(0.1) * 1 < 0.11, a.T @ a, a @ np.ones((3, 2)))
# indices
show(a[0], a[1, 2].item(), a[:, ::-1], a[::-1, 1:], a[..., None].shape, a[[1, 0]], a[a > 3], a[np.array([0, 1]), np.array([2, 0])], len(a), [r.sum().item() for r in a], 3 in a)
b = a.copy()
b[0, 0] = 9
b[1] = 7.9
b[:, 2] += 1
b *= 2
show(b, a, a.reshape(3, -1), a.flatten(), a.transpose(1, 0), a.astype(np.float64), a.astype("int32"), a.dtype == np.int64, a.ndim, a.size)
# making
show(np.zeros((2, 2)), np.ones(3, dtype=np.int32), np.full((2,), 7), np.full(2, 0.5), np.eye(3, 2, k=-1), np.arange(5), np.arange(1, 2, 0.25), np.arange(6, 0, -2), np.linspace(0, 1, 5), np.linspace(0, 1, 4, endpoint=False), np.logspace(0, 3, 4, base=2), np.zeros_like(f), np.full_like(a, 2))
# reductions
show(a.sum().item(), np.sum(a, axis=0), a.mean(), np.mean(a, axis=1, keepdims=True), np.std([1.0, 2.0, 4.0]), np.var(a, axis=0), np.max(a).item(), a.min(axis=1), np.prod([2, 3, 4]).item(), np.argmax(a).item(), np.argmin(a, axis=1), np.cumsum(a), np.cumsum(a, axis=1), bool(np.all(a > 0)), bool(np.any(a > 5)), np.min([3, 1]).item())
# functions
show(np.sqrt(16), np.exp(0.0), np.log2(8), np.floor(2.7), np.ceil(2.1), np.round(2.345, 2), np.sqrt([1, 4, 9]), np.power(2.0, 3), np.maximum(a, 3), np.clip(f, 1, 2), np.where(a > 2, a, 0), np.where(f > 1, f, 0.0), np.abs([-1, 2]), np.sign(-2.0), np.isnan(np.nan), np.square(3).item())
show(np.concatenate([a, a], axis=1), np.concatenate([np.arange(2), np.array([0.5])]), np.stack([f, f]), np.vstack([[1, 2], [3, 4]]), np.hstack([[1, 2], [3]]), np.outer([1, 2], [3, 4]), np.dot([1, 2], [3, 4]).item(), np.tile([1, 2], 2), np.repeat([1, 2], 2), np.flip(a, 1), np.roll([1, 2, 3], 1), np.sort([3, 1, 2]), np.argsort([3, 1, 2]), np.meshgrid([1, 2], [3, 4, 5]), np.triu(np.ones((2, 2))), np.diag([1, 2]), np.expand_dims(f, 0), np.squeeze(np.ones((1, 2))), np.pad([1, 2], 1), np.pad(a, ((0, 1), (1, 0))))
show(np.unique([3, 1, 3, 2], return_counts=True), np.unique([1.5, 1.5]), np.nonzero(np.array([0, 2, 3])), np.array_equal(a, a), bool(np.allclose(f, f + 1e-9)), np.isscalar(3))
# with torch
t = torch.from_numpy(f)
t[0] = 8
show(f, str(t.dtype), str(torch.tensor(a).dtype), str(torch.Tensor(a).dtype), str(torch.as_tensor(np.ones(2)).dtype), str(torch.FloatTensor(np.ones(2)).dtype), str(torch.LongTensor(a).dtype))
x = torch.arange(12).reshape(3, 4)
show(x[:, np.array([2, 0])].tolist(), x[np.array([True, False, True])].tolist(), x.numpy().shape, x.numpy() * 2, x.float().numpy().mean().item(), type(x * np.ones(4)).__name__, str((x.float() * np.array([1, 2, 3, 4])).dtype), (x @ np.array([1, 2, 3, 4])).tolist())


# Functions of Python numbers are arithmetic of numbers.
def show(*xs):
    for x in xs: print(repr(float(x)) if isinstance(x,float) else int(x), isinstance(x,float), end=" ")
    print()
show(np.prod((3,4,5)), np.prod([2.5,2]), np.prod([]), np.sum([1,2,3]), np.sum([0.1]*9), np.max([1,5,2]), np.min((3.0,2)), np.max([1,2.0]), np.min([3,3.0]))
show(np.ceil(7/2), np.ceil(7), np.floor(-1.5), np.log2(1024), np.log2(3), np.sqrt(16), np.sqrt(2), np.log(10), np.exp(1), np.log10(1000), np.abs(-3), np.abs(-2.5))
show(np.maximum(3,4.0), np.maximum(4,3.0), np.minimum(3,4.0), np.add(1,2), np.power(2,10), np.power(2.0,0.5), np.power(2,-1.0), np.divide(7,2), np.floor_divide(7,2), np.floor_divide(-7,2), np.mod(-7,3), np.subtract(1,2.5), np.multiply(3,4))
show(np.prod((2**40,2**40)), np.square(3), np.sign(-2), np.round(2.5), np.int64(5), np.exp(-1000.0), np.exp(1000.0))
print(np.prod([1,2]).dtype, np.ceil(3.2).dtype, np.sqrt(4).dtype, bool(np.less(1,2)), bool(np.equal(1,1)), bool(np.maximum(True,False)), np.prod([True,True]).dtype, np.sum([True,True]))
show(np.prod(np.array([2,3]).shape), np.ceil(np.log2(100)), int(2**np.ceil(np.log2(100))))
