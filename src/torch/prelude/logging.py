# logging: heard by nobody.


CRITICAL = 50
FATAL = 50
ERROR = 40
WARNING = 30
WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0


class Logger:
    def __init__(self, name, level=0):
        self.name = name

    def setLevel(self, level):
        pass

    def addHandler(self, handler):
        pass

    def debug(self, msg, *args, **kwargs):
        pass

    info = warning = error = exception = critical = debug


_loggers = {}


def getLogger(name=None):
    name = name or "root"
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def basicConfig(**kwargs):
    pass


def debug(msg, *args, **kwargs):
    pass


def info(msg, *args, **kwargs):
    pass


def warning(msg, *args, **kwargs):
    pass


def error(msg, *args, **kwargs):
    pass
