package classifier

import (
	"math/rand/v2"
)

// example is a text of the training: whether it is an order, and how much an error in it costs.
type example struct {
	features []feature
	order    bool
	cost     float64
}

// passes is how often all examples are gone through.
const passes = 30

// train fits a linear support vector machine with squared loss by dual coordinate descent
// (Hsieh et al., ICML 2008).
func train(examples []example) *model {
	m := &model{weights: make([]float32, size)}
	weights, bias := make([]float64, size), 0.0
	alpha := make([]float64, len(examples))
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(examples))
	random := rand.New(rand.NewPCG(5, 6))
	for range passes {
		random.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
		for _, i := range order {
			e := &examples[i]
			y := -1.0
			if e.order {
				y = 1
			}
			sum, square := bias, 1.0
			for _, f := range e.features {
				sum += weights[f.index] * float64(f.value)
				square += float64(f.value) * float64(f.value)
			}
			slack := 1 / (2 * e.cost)
			next := max(alpha[i]-(y*sum-1+slack*alpha[i])/(square+slack), 0)
			step := (next - alpha[i]) * y
			alpha[i] = next
			if step == 0 {
				continue
			}
			for _, f := range e.features {
				weights[f.index] += step * float64(f.value)
			}
			bias += step
		}
	}
	for i, w := range weights {
		m.weights[i] = float32(w)
	}
	m.bias = float32(bias)
	return m
}
