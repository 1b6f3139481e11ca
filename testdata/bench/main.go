// Command bench runs the project's benchmarks and holds their figures to the bounds
// in bounds.txt. Its last line is "bench: met/bounds"; it fails where a bound is not
// met. With -shard i/n it does the i-th of n parts of the runs.
package main

import (
	"bufio"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

//go:embed bounds.txt
var table string

// run is one call of go test, and the bounds of what it measures.
type run struct {
	pkg, benchmarks, benchtime string
	bounds                     []bound
}

// bound is what one figure may be.
type bound struct {
	name, metric, op string
	value            float64
	unit, how        string
}

// parse reads a table like bounds.txt.
func parse(text string) ([]run, error) {
	var runs []run
	n := 0
	for line := range strings.Lines(text) {
		n++
		w := strings.Fields(line)
		switch {
		case len(w) == 0 || w[0][0] == '#':
		case w[0] == "run" && len(w) == 4:
			if _, err := regexp.Compile(w[2]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			runs = append(runs, run{pkg: w[1], benchmarks: w[2], benchtime: w[3]})
		case len(runs) > 0 && len(w) >= 5 && (w[2] == "<=" || w[2] == ">="):
			v, err := strconv.ParseFloat(w[3], 64)
			if _, bad := path.Match(w[0], ""); err == nil {
				err = bad
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			last := &runs[len(runs)-1]
			last.bounds = append(last.bounds, bound{w[0], w[1], w[2], v, w[4], strings.Join(w[5:], " ")})
		default:
			return nil, fmt.Errorf("line %d is neither a run nor a bound below one: %s", n, strings.TrimSpace(line))
		}
	}
	return runs, nil
}

// figures are what benchmarks measured: by name, then by metric.
type figures map[string]map[string]float64

// processors is what the testing package appends to a name.
var processors = regexp.MustCompile(`-\d+$`)

// read takes the figures from what go test prints, which it copies to w.
func (f figures) read(r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(w, lines.Text())
		words := strings.Fields(lines.Text())
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(strings.TrimPrefix(words[0], "Benchmark"), "")
		for i := 2; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				break
			}
			if f[name] == nil {
				f[name] = map[string]float64{}
			}
			f[name][words[i+1]] = v
		}
	}
	return lines.Err()
}

// worst is the figure that is hardest on a bound, of all benchmarks of its name.
func (f figures) worst(b bound) (v float64, measured bool) {
	for name, metrics := range f {
		got, ok := metrics[b.metric]
		if match, _ := path.Match(b.name, name); !match || !ok {
			continue
		}
		if !measured || b.op == "<=" && got > v || b.op == ">=" && got < v {
			v, measured = got, true
		}
	}
	return v, measured
}

// met tells whether a figure keeps a bound.
func (b bound) met(v float64) bool {
	if b.op == "<=" {
		return v <= b.value
	}
	return v >= b.value
}

// measure runs one call of go test.
func (r run) measure(f figures) error {
	cmd := exec.Command("go", "test", "-tags", "e2e", "-run", "^$", "-bench", r.benchmarks, "-benchtime", r.benchtime, "-timeout", "20m", r.pkg)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = f.read(out, os.Stdout)
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	return err
}

// report writes how each bound is kept, and returns how many of how many are.
func report(w io.Writer, runs []run, measured []figures) (met, all int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nbenchmark\tmeasured\tbound\tunit\t\thow")
	for i, r := range runs {
		for _, b := range r.bounds {
			all++
			got, word := "-", "NOT MEASURED"
			if v, ok := measured[i].worst(b); ok {
				got, word = strconv.FormatFloat(v, 'g', 4, 64), "NOT MET"
				if b.met(v) {
					met++
					word = "met"
				}
			}
			fmt.Fprintf(t, "%s %s\t%s\t%s %g\t%s\t%s\t%s\n", b.name, b.metric, got, b.op, b.value, b.unit, word, b.how)
		}
	}
	_ = t.Flush()
	fmt.Fprintf(w, "bench: %d/%d\n", met, all)
	return met, all
}

// part is the i-th of n parts of the runs, as "i/n" says; "" is all.
func part(runs []run, shard string) ([]run, error) {
	if shard == "" {
		return runs, nil
	}
	a, b, _ := strings.Cut(shard, "/")
	i, errI := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errI != nil || errN != nil || i < 1 || i > n {
		return nil, fmt.Errorf("-shard %q is not i/n with 1 ≤ i ≤ n", shard)
	}
	var out []run
	for k, r := range runs {
		if k%n == i-1 {
			out = append(out, r)
		}
	}
	return out, nil
}

func main() {
	shard := flag.String("shard", "", "which part of the runs to do, as i/n")
	flag.Parse()
	runs, err := parse(table)
	if err == nil {
		runs, err = part(runs, *shard)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	measured := make([]figures, len(runs))
	failed := false
	for i, r := range runs {
		measured[i] = figures{}
		if err := r.measure(measured[i]); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", r.pkg, err)
			failed = true
		}
	}
	if met, all := report(os.Stdout, runs, measured); met < all || failed {
		os.Exit(1)
	}
}
