# Placeholders: attribute holders of torch.backends, torch.cuda and the like.


class _Settings:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def is_available(self):
        return True

    def version(self):
        return 90100

    def enable_flash_sdp(self, enabled):
        pass

    def enable_math_sdp(self, enabled):
        pass

    def enable_mem_efficient_sdp(self, enabled):
        pass

    def flags(self, **kwargs):
        return self

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        return None


cuda = _Settings(matmul=_Settings(allow_tf32=False, allow_fp16_reduced_precision_reduction=True))
cudnn = _Settings(enabled=True, benchmark=False, deterministic=False, allow_tf32=True)
mkldnn = _Settings(enabled=True)
opt_einsum = _Settings(enabled=False)
mps = _Settings(is_available=lambda: False)
