'', "", '''''', """"""
'a\tb\n\\ \' \" \a\b\f\v\0\12\123\377\400\x41\u00e9\U0001F600\N{BULLET}\N{latin small letter e with acute}'
'a\
b'
'\d\ \8 unknown'
r'\d\'', R"\"" , r'''\'''' , u'x', U"y"
b'\x00\xff\377\u0041\N{x}', B"a", br'\x00', bR"", Rb'', RB"\""
'surrogates \ud800\udfff \ud83d\ude00'
"""three
lines "with" quotes\
 joined \
"""
'é 変 😀', 'a' 'é' "\xe9"
'''it's'''
"'" '"'
('a'
 'b'
 # comment
 'c')
