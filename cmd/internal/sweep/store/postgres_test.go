//go:build linux && e2e

package store

import (
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/sweeptest"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	keeps(t, sweeptest.Postgres(t))
}

func TestPostgresSources(t *testing.T) {
	t.Parallel()
	place := sweeptest.Postgres(t)
	older(t, place)
	sources(t, place)
}
