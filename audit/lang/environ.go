package lang

// IsEnviron reports whether an expression is all of the environment: os.environ, process.env.
func IsEnviron(x Expr) bool {
	switch x := x.(type) {
	case Name:
		return x.ID == "environ"
	case Attr:
		of, ok := x.X.(Name)
		return ok && (of.ID == "process" && x.Name == "env" || of.ID == "os" && x.Name == "environ" || of.ID == "Deno" && x.Name == "env" || of.ID == "Bun" && x.Name == "env")
	}
	return false
}
