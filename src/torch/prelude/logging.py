# logging: heard by nobody.


CRITICAL = 50
ERROR = 40
WARNING = 30
INFO = 20
DEBUG = 10
NOTSET = 0


class Logger:
    def __init__(self, name, level=0):
        pass

    def setLevel(self, level):
        pass

    def addHandler(self, handler):
        pass

    def debug(self, msg, *args, **kwargs):
        pass

    info = warning = error = exception = critical = debug


def getLogger(name=None):
    return Logger(name)


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
