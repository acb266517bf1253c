# sys: the constants that are the same on every machine. Everything else is missing.


maxsize = 9223372036854775807
byteorder = "little"
