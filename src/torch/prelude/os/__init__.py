# os: an environment without variables. A program may set variables and read back what it set, and may
# ask for variables that no system and no library knows. Those that systems set differ between machines, and those
# that libraries read change what they do.


sep = "/"
linesep = "\n"
curdir = "."
pardir = ".."

_SYSTEM = ("CI", "CONTAINER", "DISPLAY", "EDITOR", "ENV", "HOME", "HOST", "HOSTNAME", "HOSTTYPE", "LANG", "LANGUAGE",
           "LOGNAME", "LS_COLORS", "MACHTYPE", "MAIL", "MANPATH", "OLDPWD", "OSTYPE", "PAGER", "PATH", "PWD", "SHELL",
           "SHLVL", "TEMP", "TERM", "TMP", "TMPDIR", "TMUX", "TZ", "UID", "USER", "USERNAME", "VIRTUAL_ENV", "VISUAL",
           "_", "MASTER_ADDR", "MASTER_PORT", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")
_SYSTEM_PREFIXES = ("ANTHROPIC", "AWS", "AZURE", "BASH", "COLAB", "CONDA", "CUDA", "CUDNN", "DBUS", "DEBIAN", "DOCKER", "GCE",
                    "GCP", "GIT", "GOOGLE", "GPG", "HF_", "HUGGING", "JPY", "JUPYTER", "KAGGLE", "KUBERNETES", "LC_", "LD_",
                    "LESS", "LIBRARY", "MKL", "MODAL", "MPI", "NCCL", "NVIDIA", "NV_", "NVARCH", "OMP", "OMPI", "OPENAI",
                    "OPENBLAS", "PIP", "PMI", "PYTEST", "PYTHON", "RAY", "RUNPOD", "SINGULARITY", "SLURM", "SSH", "SUDO",
                    "TERM", "TORCH", "PYTORCH", "TRITON", "UV_", "VAST", "VSCODE", "WANDB", "WSL", "XDG")


def _own(name):
    if not isinstance(name, str):
        raise TypeError("str expected, not " + type(name).__name__)
    if name.upper() in _SYSTEM or name.upper().startswith(_SYSTEM_PREFIXES):
        torch.library._varies("the environment variable " + name)
    return name


class _Environ:
    def __init__(self):
        self._set = {}

    def get(self, key, default=None):
        return self._set.get(_own(key), default)

    def setdefault(self, key, value):
        return self._set.setdefault(_own(key), value)

    def pop(self, key, *default):
        if default:
            return self._set.pop(_own(key), *default)
        return self._set.pop(_own(key))

    def __getitem__(self, key):
        return self._set[_own(key)]

    def __contains__(self, key):
        return _own(key) in self._set

    def __setitem__(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError("str expected")
        self._set[_own(key)] = value

    def __delitem__(self, key):
        del self._set[_own(key)]

    def update(self, other=(), **named):
        for key, value in dict(other, **named).items():
            self[key] = value

    def __iter__(self):
        torch.library._varies("the environment")

    def __len__(self):
        torch.library._varies("the environment")

    def keys(self):
        torch.library._varies("the environment")

    values = items = copy = keys


environ = _Environ()


def getenv(key, default=None):
    return environ.get(key, default)
