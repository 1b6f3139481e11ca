#!/usr/bin/python
# vim: set fileencoding=cp1251 :
x = "привет" + п(y)
