# -*- coding: utf-8 -*-
if a: \
    b
if c:
	d
	if e:
		f; g;
  # a comment at any column
else :
    x = (1,
  2,   # inside brackets indentation means nothing
        3)

    '''a
string''' "b" 'c\
d'
class A: pass
class B:

    def f(self): return self.x \
        .y

    # last
