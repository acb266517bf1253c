# torch.linalg beyond norms, products and qr: small systems, solved in double by Gaussian elimination.


_QR = collections.namedtuple("linalg_qr", ["Q", "R"])


def qr(A, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    if mode == "complete" and A.size(-2) > A.size(-1):
        raise NotImplementedError("linalg.qr with mode='complete' of a tall matrix")
    if A.dim() == 2:
        return torch.linalg._qr(A)
    made = [torch.linalg._qr(a) for a in A.reshape((-1,) + tuple(A.shape[-2:]))]
    q, r = [torch.stack([m[i] for m in made]) for i in range(2)]
    return _QR(q.reshape(tuple(A.shape[:-2]) + tuple(q.shape[1:])), r.reshape(tuple(A.shape[:-2]) + tuple(r.shape[1:])))


def _square(A, name):
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if A.size(-1) != A.size(-2):
        raise RuntimeError(f"linalg.{name}: A must be batches of square matrices, but they are {A.size(-2)} by {A.size(-1)} matrices")


def _batched(fn, A, *rest):
    """fn of each matrix of A and the matching matrices of `rest`, computed in double."""
    if A.dim() == 2:
        return fn(A.double(), *[B.double() for B in rest]).to(A.dtype)
    flat = A.reshape((-1,) + tuple(A.shape[-2:]))
    others = [B.expand(tuple(A.shape[:-2]) + tuple(B.shape[-2:])).reshape((-1,) + tuple(B.shape[-2:])) for B in rest]
    made = [_batched(fn, flat[i], *[B[i] for B in others]) for i in range(flat.size(0))]
    return torch.stack(made).reshape(tuple(A.shape[:-2]) + tuple(made[0].shape))


def _eliminate(A, B):
    """Gaussian elimination with row exchanges: upper triangle of A, transformed B, sign of the permutation."""
    A, B, sign = A.clone(), B.clone(), 1
    for k in range(A.size(0)):
        p = k + int(A[k:, k].abs().argmax())
        if p != k:
            order = torch.arange(A.size(0), device=A.device)
            order[k], order[p] = p, k
            A, B, sign = A[order], B[order], -sign
        if float(A[k, k]) != 0:
            factor = (A[k + 1 :, k] / A[k, k]).unsqueeze(1)
            A[k + 1 :] -= factor * A[k : k + 1]
            B[k + 1 :] -= factor * B[k : k + 1]
    return A, B, sign


def _solved(A, B):
    U, Y, _ = _eliminate(A, B)
    X = torch.zeros_like(Y)
    for i in range(U.size(0) - 1, -1, -1):
        if float(U[i, i]) == 0:
            raise RuntimeError(f"torch.linalg.solve: The solver failed because the input matrix is singular.")
        X[i] = (Y[i] - U[i, i + 1 :] @ X[i + 1 :]) / U[i, i]
    return X


def solve(A, B, left=True):
    _square(A, "solve")
    vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    if not left:
        return solve(A.mT, B.mT).mT
    if vector:
        return _batched(_solved, A, B.unsqueeze(-1)).squeeze(-1)
    return _batched(_solved, A, B)


def inv(A):
    _square(A, "inv")
    return _batched(lambda a: _solved(a, torch.eye(a.size(0), dtype=a.dtype, device=a.device)), A)


def _determinant(A):
    U, _, sign = _eliminate(A, A[:, :0])
    return sign * torch.diagonal(U).prod()


def det(A):
    _square(A, "det")
    return _batched(_determinant, A)


def slogdet(A):
    _square(A, "slogdet")
    d = [_eliminate(a, a[:, :0]) for a in A.double().reshape((-1,) + tuple(A.shape[-2:]))]
    sign = torch.stack([s * torch.diagonal(U).sign().prod() for U, _, s in d]).reshape(A.shape[:-2])
    size = torch.stack([torch.diagonal(U).abs().log().sum() for U, _, s in d]).reshape(A.shape[:-2])
    return _slogdet(sign.to(A.dtype), size.to(A.dtype))


_slogdet = collections.namedtuple("slogdet", ["sign", "logabsdet"])
_lstsq = collections.namedtuple("lstsq", ["solution", "residuals", "rank", "singular_values"])


def _least(A, B):
    if A.size(0) >= A.size(1):
        q, r = torch.linalg.qr(A)
        return _triangle(r, q.mT @ B)
    q, r = torch.linalg.qr(A.mT)
    return q @ _triangle(r.mT.flip(0, 1), B.flip(0)).flip(0)


def _triangle(R, Y):
    X = torch.zeros_like(Y)
    for i in range(R.size(0) - 1, -1, -1):
        if abs(float(R[i, i])) <= 1e-13 * float(R.abs().max()):
            raise NotImplementedError("least squares with a matrix of less than full rank")
        X[i] = (Y[i] - R[i, i + 1 :] @ X[i + 1 :]) / R[i, i]
    return X


def _no_cutoff(rcond):
    if rcond is not None:
        raise NotImplementedError("rcond: which singular values count is not computed")


def lstsq(A, B, rcond=None, driver=None):
    _no_cutoff(rcond)
    vector = B.dim() == A.dim() - 1
    X = _batched(_least, A, B.unsqueeze(-1) if vector else B)
    return _lstsq(X.squeeze(-1) if vector else X, torch.empty(0), torch.empty(0, dtype=torch.int64), torch.empty(0))


def pinv(A, rcond=None, hermitian=False):
    _no_cutoff(rcond)
    return _batched(lambda a: _least(a, torch.eye(a.size(0), dtype=a.dtype, device=a.device)), A)


def _cholesky(A):
    L = torch.zeros_like(A)
    for j in range(A.size(0)):
        d = float(A[j, j] - (L[j, :j] ** 2).sum())
        if d <= 0:
            raise RuntimeError(f"linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order {j + 1} is not positive-definite).")
        L[j, j] = math.sqrt(d)
        L[j + 1 :, j] = (A[j + 1 :, j] - L[j + 1 :, :j] @ L[j, :j]) / L[j, j]
    return L


def cholesky(A, upper=False):
    _square(A, "cholesky")
    L = _batched(_cholesky, A)
    return L.mT if upper else L


def matrix_power(A, n):
    _square(A, "matrix_power")
    if n < 0:
        return matrix_power(inv(A), -n)
    out = torch.eye(A.size(-1), dtype=A.dtype, device=A.device).expand_as(A)
    while n:
        out = out @ A if n % 2 else out
        A = A @ A
        n //= 2
    return out


def multi_dot(tensors):
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    out = tensors[0]
    for m in tensors[1:]:
        out = out @ m
    return out
