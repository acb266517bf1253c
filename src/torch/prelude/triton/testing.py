# triton.testing: nothing is timed; do_bench returns a made-up time.


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    fn()
    return torch.cuda._elapsed() if quantiles is None else [torch.cuda._elapsed() for _ in quantiles]


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    if not torch.allclose(x, y, atol=1e-2 if atol is None else atol, rtol=0.0 if rtol is None else rtol):
        raise AssertionError(err_msg)
