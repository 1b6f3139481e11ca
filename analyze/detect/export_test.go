package detect

// HasRule reports whether an annotation of this subcategory is a case of a rule. The
// external tests set it: the package of the rules imports this one.
var HasRule func(subcategory string) bool
