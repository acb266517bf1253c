# numbers: the abstract classes of numbers.

Number = typing._Name("Number", lambda cls: issubclass(cls, (int, float)))
Complex = typing._Name("Complex", lambda cls: issubclass(cls, (int, float)))
Real = typing._Name("Real", lambda cls: issubclass(cls, (int, float)))
Rational = typing._Name("Rational", lambda cls: issubclass(cls, int))
Integral = typing._Name("Integral", lambda cls: issubclass(cls, int))
