package synth

import "github.com/coalmine-dev/coalmine/canaries"

// sqliteVersion is that of the library that the database says it was written by.
const sqliteVersion = 3_045_001

// database is a file of SQLite with two tables, of the items and of orders of them.
func (w *work) database() ([]byte, error) {
	items := canaries.SQLiteTable{Kind: "table", Name: "items", Table: "items", SQL: "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, count INTEGER)"}
	orders := canaries.SQLiteTable{Kind: "table", Name: "orders", Table: "orders", SQL: "CREATE TABLE orders (id INTEGER PRIMARY KEY, item_id INTEGER REFERENCES items(id), placed TEXT)"}
	for i, item := range w.items {
		id := int64(i + 1)
		items.Rows, items.IDs = append(items.Rows, []any{nil, item, int64(w.counts[i])}), append(items.IDs, id)
		orders.Rows, orders.IDs = append(orders.Rows, []any{nil, id, w.at.AddDate(0, 0, i-len(w.items)).Format("2006-01-02")}), append(orders.IDs, id)
	}
	return canaries.SQLiteFile(sqliteVersion, []canaries.SQLiteTable{items, orders})
}
