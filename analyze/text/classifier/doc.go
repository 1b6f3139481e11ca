// Package classifier estimates how much a text reads like an instruction that is meant to make
// a language model do what its user is not to notice.
//
// It is a linear model (a support vector machine) over hashed n-grams of characters and words and a
// few signs such as an address or the path of a credential file. It finds wordings that the
// expressions and word lists of package text do not know. It must never weigh who wrote a text,
// nor learn at run time: the same text always has the same score.
//
// The weights in weights.bin are made by training (see README.md beside it): from the sentences
// in testdata, which were written for this, and from the texts of public MCP packages, which stay
// outside of the repository. All functions may be called concurrently.
package classifier
