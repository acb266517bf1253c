# numbers.

Number = typing._Any("Number", lambda cls: issubclass(cls, (int, float)))
Real = typing._Any("Real", lambda cls: issubclass(cls, (int, float)))
Integral = typing._Any("Integral", lambda cls: issubclass(cls, int))
