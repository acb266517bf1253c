'\x41\u00e9\U0001F600\N{GREEK SMALL LETTER ALPHA}\101\0\n\'"'
b'\xff\377' rb"\x" Rb'a'; u'x' U"y" f'' rf'\d{a}'
f"{a!r:>{w}.{p}}{b = }{{c}}{d['e']}{f:%H:%M}{ {1: 2}[1] }{(lambda x: 1)}"
f'''{
a + """b
c"""
}''' f"{x:{'{'}>10}" f'{a if b else c}{d != e}{f == g}{h >= i}'
u'a' f'{b}' 'c'
x = 1_000.5e-3j + 0xFF_FF + 0o17 + 0b11 + .5 + 1e309 + 123456789012345678901234567890
é = ａｂｃ = ﬁ = 각
