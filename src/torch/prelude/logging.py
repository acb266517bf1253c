# logging: shown as print shows things, whatever the level. There are no handlers.


CRITICAL = 50
FATAL = 50
ERROR = 40
WARNING = 30
WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

_LEVELS = ("CRITICAL", "FATAL", "ERROR", "WARN", "WARNING", "INFO", "DEBUG", "NOTSET")


def _check_level(level):
    if isinstance(level, str) and level not in _LEVELS:
        raise ValueError(f"Unknown level: {level!r}")
    if not isinstance(level, (int, str)):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")


def _show(msg, *args, exc_info=None, stack_info=False, stacklevel=1, extra=None):
    if extra is not None:
        raise NotImplementedError("what logging is given as extra")
    print(msg, *args)


class Logger:
    def __init__(self, name, level=0):
        _check_level(level)
        self.name = name

    def setLevel(self, level):
        _check_level(level)

    def addHandler(self, handler):
        raise NotImplementedError("Logger.addHandler")

    def debug(self, msg, *args, **kwargs):
        _show(msg, *args, **kwargs)

    info = warning = error = exception = critical = debug


_loggers = {}


def getLogger(name=None):
    name = name or "root"
    if not isinstance(name, str):
        raise TypeError("A logger name must be a string")
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def basicConfig(**kwargs):
    for name in kwargs:
        if name in ("stream", "filename", "filemode", "handlers", "encoding", "errors"):
            raise NotImplementedError(f"logging.basicConfig with {name}")
        if name not in ("level", "format", "datefmt", "style", "force"):
            raise ValueError(f"Unrecognised argument(s): {name}")
    if kwargs.get("style", "%") not in ("%", "{", "$"):
        raise ValueError("Style must be one of: %,{,$")
    if kwargs.get("level") is not None:
        _check_level(kwargs["level"])


def debug(msg, *args, **kwargs):
    _show(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _show(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _show(msg, *args, **kwargs)


def error(msg, *args, **kwargs):
    _show(msg, *args, **kwargs)
