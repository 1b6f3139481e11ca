package sinkhole

import (
	"testing"

	"github.com/miekg/dns"
)

func TestWhatCannotExistDoesNotResolve(t *testing.T) {
	n := newNames(Config{MaxNames: 100, Known: []string{"Redis", "qzkxvjwq7.com", "listed.test", "db.cluster"}, Missing: []string{"Gone.example", "db.gone.com"}})
	for name, want := range map[string]bool{
		"example.com.": true, "WWW.Example.ORG.": true, "93-184-216-34.collect.example.": true, "api.github.com.": true, "s3.eu-west-1.amazonaws.com.": true,
		"d111111abcdef8.cloudfront.net.": true, "co.uk.": true, "xn--bcher-kva.example.": true, "nas.lan.": true, "git.corp.": true,
		"qzxk39vjw1.example.": true, "4d5a90-000300.tunnel.example.com.": true, "metadata.google.internal.": true, "a.localhost.": true,
		"gone.example.": false, "a.gone.example.": false, "agone.example.": true, "gone.com.": true, "x.db.gone.com.": false,
		"redis.": true, "qzkxvjwq7.com.": true, "db.cluster.": true,
		"host.invalid.": false, "a.test.": false, "listed.test.": false, "printer.local.": false, "abcdefghij.onion.": false, "example.": false, "lan.": false,
		"qzxk39vjw1.com.": false, "www.qzxk39vjw1.co.uk.": false, "xkqzvbnmt.net.": false, "intranet-server.": false, "qwkjzxhg.": false, "com.": false,
		"host.nosuchtld.": false, "a1b2c3d4e5f6.io.": false, ".": false,
	} {
		asked := 0
		q, _ := new(dns.Msg).SetQuestion(name, dns.TypeA).Pack()
		out := n.respond(q, dns.MaxMsgSize, func(_ dns.Question, found, own bool) {
			asked++
			if found != want {
				t.Errorf("%s: reported as found: %v", name, found)
			}
		})
		m := new(dns.Msg)
		if err := m.Unpack(out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := m.Rcode == dns.RcodeSuccess && len(m.Answer) == 1; got != want || !want && m.Rcode != dns.RcodeNameError {
			t.Errorf("%s: %v", name, m)
		}
		if asked != 1 {
			t.Errorf("%s: told %d times", name, asked)
		}
	}
}

func TestEveryNameResolvesWhereItIsAskedFor(t *testing.T) {
	n := newNames(Config{MaxNames: 100, EveryName: true})
	for _, name := range []string{"host.invalid", "qzxk39vjw1.com", "qwkjzxhg"} {
		if !n.exists(name) {
			t.Errorf("%s does not exist", name)
		}
	}
}

func TestNamesOfRealHostsDoNotLookRandom(t *testing.T) {
	for _, label := range []string{
		"google", "githubusercontent", "jsdelivr", "httpbin", "openstreetmap", "stackoverflow", "html5rocks", "huggingface", "pythonhosted", "nominatim",
		"elasticsearch", "snowflakecomputing", "digitalocean", "alphavantage", "coingecko", "openweathermap", "jsonplaceholder", "deutschebank", "przelewy24",
		"krankenkasse", "rijksoverheid", "office365", "cockroachlabs", "icanhazip", "northfield", "brightworks",
	} {
		if looksRandom(label) {
			t.Error(label)
		}
	}
	for _, label := range []string{"qzxk39vjw1", "xvqjzkwp", "hqtzvbxkwm", "a8f3k2m9x1c7"} {
		if !looksRandom(label) {
			t.Error(label)
		}
	}
}
