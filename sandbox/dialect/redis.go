package dialect

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// redisWords are the commands by what they do; one that is not here reads.
var redisWords = map[string][]string{
	"": {
		"PING", "ECHO", "HELLO", "AUTH", "CLIENT", "SELECT", "QUIT", "RESET", "COMMAND", "INFO", "TIME", "MULTI", "EXEC", "DISCARD", "WATCH", "UNWATCH", "READONLY", "READWRITE", "ASKING",
		"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE", "WAIT", "LASTSAVE", "ROLE",
	},
	trace.StatementWrites: {
		"SET", "SETEX", "PSETEX", "SETNX", "MSET", "MSETNX", "GETSET", "APPEND", "SETRANGE", "SETBIT", "BITOP", "BITFIELD", "INCR", "INCRBY", "INCRBYFLOAT", "DECR", "DECRBY",
		"HSET", "HMSET", "HSETNX", "HINCRBY", "HINCRBYFLOAT", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX", "LINSERT", "LSET", "LMOVE", "RPOPLPUSH", "BLMOVE", "SADD", "SMOVE", "SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE",
		"ZADD", "ZINCRBY", "ZUNIONSTORE", "ZINTERSTORE", "ZDIFFSTORE", "ZRANGESTORE", "GEOADD", "PFADD", "PFMERGE", "XADD", "XGROUP", "XACK", "XCLAIM", "XSETID", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "PERSIST",
		"RENAME", "RENAMENX", "COPY", "RESTORE", "MOVE", "SWAPDB", "SORT", "EVAL", "EVALSHA", "FCALL", "FUNCTION", "SCRIPT", "PUBLISH", "SPUBLISH", "JSON.SET", "JSON.MSET", "ACL", "CONFIG", "SAVE", "BGSAVE", "BGREWRITEAOF",
	},
	trace.StatementDeletes: {
		"DEL", "UNLINK", "GETDEL", "HDEL", "LPOP", "RPOP", "BLPOP", "BRPOP", "LREM", "LTRIM", "LMPOP", "SPOP", "SREM", "ZREM", "ZPOPMIN", "ZPOPMAX", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZREMRANGEBYLEX", "XDEL", "XTRIM", "JSON.DEL",
	},
	trace.StatementDestroys: {"FLUSHALL", "FLUSHDB"},
	trace.StatementMachine:  {"MODULE", "REPLICAOF", "SLAVEOF", "MIGRATE", "DEBUG", "SHUTDOWN"},
}

// subcommands are the commands whose second word belongs to the verb, and those among
// their subcommands that only read.
var subcommands = map[string][]string{
	"CONFIG": {"GET", "HELP", "RESETSTAT"}, "SCRIPT": {"EXISTS", "HELP", "LOAD"}, "FUNCTION": {"LIST", "DUMP", "STATS", "HELP"}, "ACL": {"LIST", "WHOAMI", "GETUSER", "CAT", "USERS", "LOG", "HELP"},
	"MODULE": {"LIST", "HELP"}, "DEBUG": {"OBJECT", "SLEEP", "JMAP"}, "CLIENT": nil, "MEMORY": nil, "OBJECT": nil, "XGROUP": nil, "XINFO": nil, "CLUSTER": nil, "LATENCY": nil, "SLOWLOG": nil,
}

// configMachine are the settings by which Redis writes files or loads libraries.
var configMachine = []string{"dir", "dbfilename", "appendfilename", "appenddirname", "logfile", "loadmodule", "unixsocket", "pidfile", "aclfile"}

// redis is RESP, of both versions.
type redis struct {
	r        *Reader
	up, down resp
	waiting  []trace.Statement
	multi    bool
}

func newRedis(r *Reader) *redis { return &redis{r: r} }

func (c *redis) client(b []byte, at time.Duration) error {
	return c.up.feed(b, func(words []string, _ byte) error {
		if len(words) == 0 {
			return nil
		}
		if len(c.waiting) > maxPending {
			return errors.New("too many commands wait for an answer")
		}
		s := redisStatement(words)
		s.Time = at
		c.waiting = append(c.waiting, s)
		return nil
	})
}

func (c *redis) server(b []byte) error {
	return c.down.feed(b, func(words []string, kind byte) error {
		if kind == '>' || len(c.waiting) == 0 {
			return nil // a message that nobody asked for
		}
		s := c.waiting[0]
		c.waiting = c.waiting[1:]
		s.Refused = kind == '-' || kind == '!'
		switch {
		case s.Refused && s.Verb != "EXEC":
		case s.Verb == "MULTI":
			c.multi = true
		case s.Verb == "EXEC":
			c.multi = false
			c.r.resolve(s.Refused || kind == '_' || len(words) == 0)
		case s.Verb == "DISCARD", s.Verb == "RESET":
			c.multi = false
			c.r.resolve(true)
		}
		c.r.done(s, c.multi)
		return nil
	})
}

// redisStatement tells what a command does.
func redisStatement(words []string) trace.Statement {
	s := trace.Statement{Verb: strings.ToUpper(words[0]), Does: trace.StatementReads}
	for does, list := range redisWords {
		if slices.Contains(list, s.Verb) {
			s.Does = does
		}
	}
	rest := words[1:]
	if reads, ok := subcommands[s.Verb]; ok && len(rest) > 0 {
		second := strings.ToUpper(rest[0])
		if slices.Contains(reads, second) {
			s.Does = trace.StatementReads
		}
		if s.Verb == "CONFIG" && second == "SET" && len(rest) > 1 && slices.Contains(configMachine, strings.ToLower(rest[1])) {
			s.Does = trace.StatementMachine
		}
		s.Verb, rest = s.Verb+" "+second, rest[1:]
	}
	if len(rest) > 0 {
		s.Object = rest[0][:min(len(rest[0]), 128)]
	}
	s.Bare = s.Verb
	if s.Verb == "EVAL" && len(words) > 1 {
		s.Object = ""
		for _, p := range split(words[1], true) { // Lua quotes as MySQL does
			s.Bare += " " + p.bare()
		}
		s.Bare = bounded(s.Bare)
	}
	var b strings.Builder
	for i, w := range words {
		if b.Len() > maxText {
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w[:min(len(w), maxText)])
	}
	s.Text = bounded(b.String())
	return s
}

// resp reads values of RESP as they come. Of one it hands on the texts, at most maxWords, and its
// kind.
type resp struct {
	buf []byte
	// looked is how much of it has no end of a line.
	looked int
	// skip is what is left of a text that is too long to be held.
	skip int64
	// left are the values that are to come, for each array that is open.
	left  []int64
	kind  byte
	words []string
}

// The bounds of a value.
const (
	maxWords = 1024
	maxDepth = 32
	maxWord  = 32 << 10
)

func (v *resp) feed(p []byte, take func(words []string, kind byte) error) error {
	v.buf = append(v.buf, p...)
	for read := false; ; read = true {
		more, err := v.step(take)
		if err != nil {
			return err
		}
		if !more {
			if read {
				v.buf = bytes.Clone(v.buf) // lets go of what was read
			}
			return nil
		}
	}
}

// step reads one line, or one text, and reports whether there may be another.
func (v *resp) step(take func([]string, byte) error) (bool, error) {
	if v.skip > 0 {
		n := min(v.skip, int64(len(v.buf)))
		v.buf, v.skip = v.buf[n:], v.skip-n
		if v.skip > 0 || n == 0 {
			return false, nil
		}
		return true, v.ended(take)
	}
	end := bytes.IndexByte(v.buf[v.looked:], '\n')
	if end < 0 {
		if v.looked = len(v.buf); v.looked > maxMessage {
			return false, errMalformed
		}
		return false, nil
	}
	end += v.looked
	v.looked = 0
	line := strings.TrimSuffix(string(v.buf[:end]), "\r")
	if line == "" {
		v.buf = v.buf[end+1:]
		return true, nil
	}
	kind, rest := line[0], line[1:]
	if len(v.left) == 0 {
		v.kind, v.words = kind, nil
	}
	switch kind {
	case '$', '=', '!':
		return v.text(end+1, rest, take)
	case '*', '%', '~', '>', '|':
		v.buf = v.buf[end+1:]
		return true, v.array(kind, rest, take)
	case '+', '-', ':', '_', ',', '#', '(':
		v.buf = v.buf[end+1:]
		v.add(rest)
		return true, v.ended(take)
	}
	if len(v.left) > 0 || !isWord(kind) {
		return false, errMalformed
	}
	v.buf = v.buf[end+1:]
	v.kind, v.words = '*', strings.Fields(line) // an inline command
	return true, v.ended(take)
}

// text reads a text of a length, which begins at an offset.
func (v *resp) text(from int, length string, take func([]string, byte) error) (bool, error) {
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < -1 || n > 1<<40 {
		return false, errMalformed
	}
	if n < 0 {
		v.buf = v.buf[from:]
		return true, v.ended(take)
	}
	have := int64(len(v.buf) - from)
	switch {
	case n > maxWord && have >= maxWord:
		v.add(string(v.buf[from : from+maxWord]))
		v.buf, v.skip = v.buf[from+maxWord:], n-maxWord+2
		return true, nil
	case n > maxWord || have < n+2:
		return false, nil
	}
	v.add(string(v.buf[from : from+int(n)]))
	v.buf = v.buf[from+int(n)+2:]
	return true, v.ended(take)
}

func (v *resp) array(kind byte, length string, take func([]string, byte) error) error {
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n > 1<<32 || len(v.left) >= maxDepth {
		return errMalformed
	}
	if kind == '%' || kind == '|' {
		n *= 2
	}
	if kind == '|' {
		n++ // what the attribute is of
	}
	if n <= 0 {
		return v.ended(take)
	}
	v.left = append(v.left, n)
	return nil
}

func (v *resp) add(word string) {
	if len(v.words) < maxWords {
		v.words = append(v.words, word)
	}
}

// ended is called after each value, and closes the arrays that it ends.
func (v *resp) ended(take func([]string, byte) error) error {
	for len(v.left) > 0 {
		if v.left[len(v.left)-1]--; v.left[len(v.left)-1] > 0 {
			return nil
		}
		v.left = v.left[:len(v.left)-1]
	}
	words := v.words
	v.words = nil
	return take(words, v.kind)
}
