package canaries

// OfTexts is a set that finds texts in every encoding in which it finds decoys: each has itself as its ID. It has no
// files and no environment. Texts that are shorter than eight bytes stand anywhere by chance, and are left out.
func OfTexts(texts []string) *Set {
	const least = 8
	var list []Canary
	for _, t := range texts {
		if len(t) >= least {
			list = append(list, Canary{ID: t, Kind: "text", Value: t})
		}
	}
	return newSearch(list, cutter{func(c Canary) []string { return []string{c.Value} }, least})
}
