// Package notebook parses the code cells of Jupyter notebooks (nbformat 3 and 4) by the
// parser of Python.
//
// The code of all cells is one file, whose Lines lead to the lines of the notebook itself.
// What IPython adds to Python is changed as IPython does: "!command" is a call of
// get_ipython().system, a line magic is left out, and a cell with a magic of its own is not
// Python and is in File.Unread.
//
// The package must never run what it reads, and never panic.
package notebook
