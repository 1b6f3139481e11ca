package rules

import "testing"

func TestShellReads(t *testing.T) {
	for name, c := range map[string]struct {
		command, arg string
		want         bool
	}{
		"unquoted":                    {"ls $(id)", "$(id)", true},
		"an operator":                 {"ping -c 1 a.example;id", "a.example;id", true},
		"a plain word":                {"ls notes", "notes", false},
		"single quotes":               {"ls '$(id) x'", "$(id) x", false},
		"single quotes that it ends":  {"echo 'it's; id'", "it's; id", true},
		"double quotes":               {`echo "$(id)"`, "$(id)", true},
		"an operator in double ones":  {`echo "a;b c"`, "a;b c", false},
		"an escaped one":              {`echo "\$(id)"`, "$(id)", false},
		"escaped single quotes":       {`echo 'it'\''s; id'`, "it's; id", false},
		"quoted once, and once not":   {"echo 'a;id' && ls a;id", "a;id", true},
		"a quotation before":          {`echo "x" a;id`, "a;id", true},
		"too short":                   {"ls ;x", ";x", false},
		"an escaped quotation before": {`echo \" a;id`, "a;id", true},
	} {
		if got := shellReads(c.command, c.arg); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestShellText(t *testing.T) {
	for want, argv := range map[string][]string{
		"ls":    {"/bin/sh", "-c", "ls"},
		"ls -l": {"bash", "-lc", "ls -l", "x"},
		"":      {"python3", "-c", "print()"},
	} {
		if got := shellText(argv); got != want {
			t.Errorf("%q: %q", argv, got)
		}
	}
}
