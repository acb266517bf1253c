#!/usr/bin/env python3
"""Writes the Unicode tables of src/py from Python's own unicodedata and codecs. Run with
CPython 3.11 (Unicode 14): python3.11 tools/unicode_tables.py src/py"""
import sys
import unicodedata as ud

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-"
BUCKETS = 4096
BYTE_ENCODINGS = """iso-8859-1 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8
    iso-8859-9 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 cp1250 cp1251 cp1252 cp1253
    cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp850 cp866 koi8-r koi8-u mac-roman""".split()


def ranges(value, first=128):
    """(from, to, value) for runs of characters with the same true value"""
    out, start, last = [], None, None
    for c in range(first, 0x110001):
        v = value(c) if c < 0x110000 else None
        if v != last:
            if last:
                out.append((start, c - 1, last))
            start, last = c, v
    return out


def write(path, what, items, join=" "):
    with open(path, "w") as f:
        f.write("/* %s, Unicode %s. Made by tools/unicode_tables.py. */\n" % (what, ud.unidata_version))
        line = ""
        for item in items:
            if line and len(line) + len(item) > 118:
                f.write(line.rstrip() + "\n")
                line = ""
            line += item + join
        f.write(line.rstrip() + "\n")


def rows(macro, table):
    return ["%s(%s)" % (macro, ",".join("0x%X" % v for v in row)) for row in table]


def name_hash(name):
    """FNV-1a, 64 bits, folded; src/py/uni_name.c has the same"""
    h = 0xCBF29CE484222325
    for c in name.encode():
        h = (h ^ c) * 0x100000001B3 & (1 << 64) - 1
    return (h ^ h >> 32) & (1 << 36) - 1


def digits(v, n):
    return "".join(DIGITS[v >> 6 * k & 63] for k in reversed(range(n)))


def all_names():
    """name: character, with aliases, without the names that follow a rule"""
    out = {}
    for c in range(0x110000):
        name = ud.name(chr(c), "")
        if name and not name.startswith(("CJK UNIFIED IDEOGRAPH-", "HANGUL SYLLABLE ")):
            out[name] = c
    # unicodedata knows aliases but does not list them: tried from those of the control
    # characters and the corrections that NameAliases.txt of Unicode 14 has
    for alias in ALIASES.split("\n"):
        try:
            out[alias] = ord(ud.lookup(alias))
        except (KeyError, TypeError):
            pass
    return out


ALIASES = "\n".join("""NULL;START OF HEADING;START OF TEXT;END OF TEXT;END OF TRANSMISSION;ENQUIRY;ACKNOWLEDGE;ALERT;
BACKSPACE;CHARACTER TABULATION;HORIZONTAL TABULATION;LINE FEED;NEW LINE;END OF LINE;LINE TABULATION;
VERTICAL TABULATION;FORM FEED;CARRIAGE RETURN;SHIFT OUT;LOCKING-SHIFT ONE;SHIFT IN;LOCKING-SHIFT ZERO;
DATA LINK ESCAPE;DEVICE CONTROL ONE;DEVICE CONTROL TWO;DEVICE CONTROL THREE;DEVICE CONTROL FOUR;
NEGATIVE ACKNOWLEDGE;SYNCHRONOUS IDLE;END OF TRANSMISSION BLOCK;CANCEL;END OF MEDIUM;SUBSTITUTE;ESCAPE;
INFORMATION SEPARATOR FOUR;FILE SEPARATOR;INFORMATION SEPARATOR THREE;GROUP SEPARATOR;
INFORMATION SEPARATOR TWO;RECORD SEPARATOR;INFORMATION SEPARATOR ONE;UNIT SEPARATOR;DELETE;
PADDING CHARACTER;HIGH OCTET PRESET;BREAK PERMITTED HERE;NO BREAK HERE;INDEX;NEXT LINE;
START OF SELECTED AREA;END OF SELECTED AREA;CHARACTER TABULATION SET;HORIZONTAL TABULATION SET;
CHARACTER TABULATION WITH JUSTIFICATION;HORIZONTAL TABULATION WITH JUSTIFICATION;LINE TABULATION SET;
VERTICAL TABULATION SET;PARTIAL LINE FORWARD;PARTIAL LINE DOWN;PARTIAL LINE BACKWARD;PARTIAL LINE UP;
REVERSE LINE FEED;REVERSE INDEX;SINGLE SHIFT TWO;SINGLE-SHIFT-2;SINGLE SHIFT THREE;SINGLE-SHIFT-3;
DEVICE CONTROL STRING;PRIVATE USE ONE;PRIVATE USE-1;PRIVATE USE TWO;PRIVATE USE-2;SET TRANSMIT STATE;
CANCEL CHARACTER;MESSAGE WAITING;START OF GUARDED AREA;START OF PROTECTED AREA;END OF GUARDED AREA;
END OF PROTECTED AREA;START OF STRING;SINGLE GRAPHIC CHARACTER INTRODUCER;SINGLE CHARACTER INTRODUCER;
CONTROL SEQUENCE INTRODUCER;STRING TERMINATOR;OPERATING SYSTEM COMMAND;PRIVACY MESSAGE;
APPLICATION PROGRAM COMMAND;NUL;SOH;STX;ETX;EOT;ENQ;ACK;BEL;BS;TAB;HT;LF;NL;EOL;VT;FF;CR;SO;SI;DLE;DC1;DC2;
DC3;DC4;NAK;SYN;ETB;CAN;EOM;SUB;ESC;FS;GS;RS;US;SP;DEL;PAD;HOP;BPH;NBH;IND;NEL;SSA;ESA;HTS;HTJ;VTS;PLD;PLU;
RI;SS2;SS3;DCS;PU1;PU2;STS;CCH;MW;SPA;EPA;SOS;SGC;SCI;CSI;ST;OSC;PM;APC;NBSP;SHY;BOM;ZWNBSP;ZWSP;ZWNJ;ZWJ;
LRM;RLM;LRE;RLE;PDF;LRO;RLO;NNBSP;MMSP;WJ;LRI;RLI;FSI;PDI;CGJ;ALM;BYTE ORDER MARK;
LATIN CAPITAL LETTER GHA;LATIN SMALL LETTER GHA;WEIERSTRASS ELLIPTIC FUNCTION;
MICR ON US SYMBOL;MICR DASH SYMBOL""".replace("\n", "").split(";"))


def name_table():
    """A character per bucket for its size, then per name four digits of hash and three of
    the character, all base 64, as string literals."""
    buckets = [[] for _ in range(BUCKETS)]
    for name, c in all_names().items():
        h = name_hash(name)
        buckets[h & BUCKETS - 1].append((h >> 12, c))
    for b in buckets:
        b.sort()
        assert len(b) < 64 and len({h for h, _ in b}) == len(b)
    # three digits hold 18 bits: plane 14 is moved down
    place = lambda c: c if c < 0x30000 else c - 0xE0000 + 0x30000
    sizes = "".join(digits(len(b), 1) for b in buckets)
    entries = "".join(digits(h, 4) + digits(place(c), 3) for b in buckets for h, c in b)
    marks = [sum(len(b) for b in buckets[:i]) for i in range(0, BUCKETS, 64)]
    return sizes, entries, marks


def literals(text, width=112):
    return ['"%s"' % text[i:i + width] for i in range(0, len(text), width)]


def main(folder):
    write(folder + "/uni_start.def", "R(from, to): characters that can begin an identifier",
          rows("R", [r[:2] for r in ranges(lambda c: chr(c).isidentifier())]))
    write(folder + "/uni_continue.def", "R(from, to): characters that can stand in an identifier",
          rows("R", [r[:2] for r in ranges(lambda c: ("a" + chr(c)).isidentifier())]))
    write(folder + "/uni_print.def", "R(from, to): printable characters",
          rows("R", [r[:2] for r in ranges(lambda c: chr(c).isprintable())]))
    write(folder + "/uni_class.def", "R(from, to, class): canonical combining classes that are not 0",
          rows("R", ranges(lambda c: ud.combining(chr(c)))))
    decompositions = []
    compositions = []
    for c in range(128, 0x110000):
        full = ud.normalize("NFKD", chr(c))
        if full != chr(c) and not 0xAC00 <= c <= 0xD7A3 and ("a" + chr(c)).isidentifier():
            decompositions.append('D(0x%X,"%s")' % (c, full))
        parts = ud.decomposition(chr(c)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            a, b = (int(x, 16) for x in parts)
            if ud.normalize("NFC", chr(a) + chr(b)) == chr(c):
                compositions.append((a, b, c))
    write(folder + "/uni_decompose.def", "D(character, its full compatibility decomposition): those of identifiers",
          decompositions)
    write(folder + "/uni_compose.def", "C(first, second, character): canonical compositions, sorted",
          rows("C", sorted(compositions)))
    sizes, entries, marks = name_table()
    write(folder + "/uni_name_size.def", "Names by hash: how many in each bucket (see uni_name.c)", literals(sizes), "\n")
    write(folder + "/uni_name.def", "Names by hash: hash and character (see uni_name.c)", literals(entries), "\n")
    write(folder + "/uni_name_mark.def", "Names by hash: how many stand before every 64th bucket (see uni_name.c)",
          ["%d," % m for m in marks])
    encodings = []
    for e in BYTE_ENCODINGS:
        row = []
        for b in range(128, 256):
            try:
                row.append(ord(bytes([b]).decode(e)))
            except UnicodeDecodeError:
                row.append(0)
        encodings.append('E("%s", %s)' % (e, ",".join("0x%X" % c for c in row)))
    write(folder + "/encoding.def", "E(name, the characters of bytes 128 to 255, 0: none)", encodings, "\n")


main(sys.argv[1])
