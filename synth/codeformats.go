package synth

import "strconv"

// codeFormats are source files of programming languages, in the least form that each compiles or runs in.
func (w *work) codeFormats() []format {
	item, count := w.items[0], strconv.Itoa(w.counts[0])
	return []format{
		{".c", "src/count.c", "#include <stdio.h>\n#include \"count.h\"\n\nint count(int n) {\n    return n + " + count + ";\n}\n\nint main(void) {\n    printf(\"" + item + " %d\\n\", count(1));\n    return 0;\n}\n"},
		{".h", "src/count.h", "#ifndef COUNT_H\n#define COUNT_H\n\nint count(int n);\n\n#endif\n"},
		{".cpp", "src/count.cpp", "#include <string>\n\nclass Counter {\npublic:\n    int count(int n) const { return n + " + count + "; }\n};\n\nint main() { return Counter().count(-" + count + "); }\n"},
		{".cs", "src/Counter.cs", "namespace Example;\n\npublic class Counter\n{\n    public int Count(int n) => n + " + count + ";\n}\n"},
		{".java", "src/Counter.java", "public class Counter {\n    public int count(int n) {\n        return n + " + count + ";\n    }\n}\n"},
		{".kt", "src/Counter.kt", "class Counter {\n    fun count(n: Int): Int = n + " + count + "\n}\n"},
		{".swift", "src/Counter.swift", "struct Counter {\n    func count(_ n: Int) -> Int { n + " + count + " }\n}\n"},
		{".rs", "src/count.rs", "pub fn count(n: u32) -> u32 {\n    n + " + count + "\n}\n\nfn main() {\n    println!(\"" + item + " {}\", count(1));\n}\n"},
		{".rb", "src/counter.rb", "class Counter\n  def count(n) = n + " + count + "\nend\n"},
		{".php", "src/counter.php", "<?php\n\nfunction count_items(int $n): int\n{\n    return $n + " + count + ";\n}\n"},
		{".pl", "src/count.pl", "use strict;\nuse warnings;\n\nsub count { my ($n) = @_; return $n + " + count + "; }\n\nprint count(1), \"\\n\";\n"},
		{".lua", "src/count.lua", "local function count(n)\n  return n + " + count + "\nend\n\nprint(count(1))\n"},
		{".r", "src/count.r", "count <- function(n) {\n  n + " + count + "\n}\nprint(count(1))\n"},
		{".jl", "src/count.jl", "count(n) = n + " + count + "\nprintln(count(1))\n"},
		{".ex", "src/counter.ex", "defmodule Counter do\n  def count(n), do: n + " + count + "\nend\n"},
		{".hs", "src/Count.hs", "module Main where\n\ncount :: Int -> Int\ncount n = n + " + count + "\n\nmain :: IO ()\nmain = print (count 1)\n"},
		{".scala", "src/Counter.scala", "object Counter {\n  def count(n: Int): Int = n + " + count + "\n}\n"},
		{".dart", "src/count.dart", "int count(int n) => n + " + count + ";\n\nvoid main() => print(count(1));\n"},
		{".sh", "src/count.sh", "#!/bin/sh\nset -eu\necho $((1 + " + count + "))\n"},
		{".ps1", "src/count.ps1", "function Get-Count([int]$n) { $n + " + count + " }\nGet-Count 1\n"},
		{".sol", "src/Counter.sol", "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.20;\n\ncontract Counter {\n    uint256 public total = " + count + ";\n\n    function add(uint256 n) external {\n        total += n;\n    }\n}\n"},
		{".vue", "src/Counter.vue", "<script setup>\nconst count = " + count + "\n</script>\n\n<template>\n  <p>{{ count }}</p>\n</template>\n"},
		{".svelte", "src/Counter.svelte", "<script>\n  let count = " + count + ";\n</script>\n\n<p>{count}</p>\n"},
		{".tsx", "src/Counter.tsx", "export function Counter({ n }: { n: number }) {\n  return <p>{n + " + count + "}</p>;\n}\n"},
		{".jsx", "src/Counter.jsx", "export function Counter({ n }) {\n  return <p>{n + " + count + "}</p>;\n}\n"},
		{".mjs", "src/count.mjs", "export const count = (n) => n + " + count + ";\n"},
		{".map", "site/index.min.js.map", `{"version":3,"file":"index.min.js","sources":["index.js"],"sourcesContent":["module.exports = (list) => list.length;\n"],"names":["list"],"mappings":"AAAA,OAAO,QAAU,CAACA,GAASA,EAAK"}` + "\n"},
		{".gd", "src/counter.gd", "extends Node\n\nfunc count(n: int) -> int:\n\treturn n + " + count + "\n"},
		{".asm", "src/count.asm", "section .text\nglobal count\ncount:\n    lea eax, [rdi + " + count + "]\n    ret\n"},
		{".v", "src/counter.v", "module counter(input clk, output reg [7:0] n);\n  always @(posedge clk) n <= n + 1;\nendmodule\n"},
	}
}
