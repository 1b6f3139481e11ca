package tui

// list is a cursor and a window over n lines.
type list struct {
	n, cursor, top, height int
	// stick keeps the cursor at the end as lines come.
	stick bool
}

// set moves the cursor to a line and keeps it in the window.
func (l *list) set(i int) {
	l.cursor = max(0, min(i, l.n-1))
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.height > 0 && l.cursor >= l.top+l.height {
		l.top = l.cursor - l.height + 1
	}
	l.top = max(0, min(l.top, l.n-l.height))
}

// grow takes in a new number of lines.
func (l *list) grow(n int) {
	l.n = n
	if l.stick {
		l.set(n - 1)
		return
	}
	l.set(l.cursor)
}

func (l *list) resize(h int) {
	l.height = max(h, 1)
	l.set(l.cursor)
}

// key moves the cursor by a key, and reports whether the key does that.
func (l *list) key(k string) bool {
	to := l.cursor
	switch k {
	case "up", "k":
		to--
	case "down", "j":
		to++
	case "pgup", "ctrl+b", "b":
		to -= l.height
	case "pgdown", "ctrl+f", "space":
		to += l.height
	case "ctrl+u":
		to -= l.height / 2
	case "ctrl+d":
		to += l.height / 2
	case "home", "g":
		to = 0
	case "end", "G":
		to = l.n - 1
	default:
		return false
	}
	l.set(to)
	l.stick = l.stick && l.cursor == l.n-1
	return true
}

// wheel scrolls the window, and the cursor with it where it would leave it.
func (l *list) wheel(by int) {
	l.top = max(0, min(l.top+by, l.n-l.height))
	l.set(max(l.top, min(l.cursor, l.top+l.height-1)))
	l.stick = l.stick && l.cursor == l.n-1
}

// click selects the line at a row of the window. open says that it was selected before.
func (l *list) click(row int) (open bool) {
	i := l.top + row
	if row < 0 || row >= l.height || i >= l.n {
		return false
	}
	open = i == l.cursor
	l.set(i)
	return open
}
