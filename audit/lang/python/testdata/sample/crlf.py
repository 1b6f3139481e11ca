x = """a
b"""
if x:
    y = "a\
b"
    z = [1,
 2]

def f():
    """doc
    string"""
    return f"""{x}
"""
