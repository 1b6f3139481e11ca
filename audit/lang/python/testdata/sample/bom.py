x = "é"
if x:
    pass
