if a:
	b
	if c:
		d

class X:
    x = 1

  # odd comment

    y = 2
    z = 3
if x:
  if y:
     pass
  else:
     pass
x = 1 + \
    2
if a and \
   b: \
   c
   \

  \

x = [1,
2,
  3
]
if x:
    y = (
1)
    z
    \
w
for x in y: \
  pass
x = """
  not indented
""" ; y