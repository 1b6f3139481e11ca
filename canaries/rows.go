package canaries

import (
	"fmt"
	"strings"
)

// KindRow is the kind of a decoy that stands in a row of a service's table, or in a key.
const KindRow = "row"

// rowTables are the tables that each service holds, with the people in its rows.
var rowTables = []struct {
	table string
	names []string
}{
	{"customers", []string{"Marlene Voss", "Tomas Ferreira", "Ines Kowalczyk"}},
	{"payment_methods", []string{"Voss, primary", "Ferreira, backup"}},
}

// Row is one decoy row.
type Row struct {
	// Canary is the id of the value that stands in it, Label the name beside that.
	Canary, Table, Label string
}

// Rows lists the decoy rows of a service.
func Rows(service string) []Row {
	var out []Row
	for _, t := range rowTables {
		for i, name := range t.names {
			out = append(out, Row{Canary: fmt.Sprintf("row-%s-%s-%d", service, t.table, i+1), Table: t.table, Label: name})
		}
	}
	return out
}

// RowTable is the service and the table of a decoy of KindRow.
func RowTable(c Canary) (service, table string) {
	service, table, _ = strings.Cut(c.URL, ":")
	return service, table
}

// plantRows mints what stands in the rows of services.
func (h *home) plantRows(services []string) {
	for _, s := range services {
		for _, r := range Rows(s) {
			h.list = append(h.list, Canary{ID: r.Canary, Kind: KindRow, Value: h.mint.prefixed("acct_", base62, 24), URL: s + ":" + r.Table})
		}
	}
}
