# gate.sh CALL gate|tap: a client makes a call that the lock does not allow, through the gate or through the tap.
cd "$DIR"
cat > only.jsonl <<END
{"ts":"2026-01-01T00:00:00Z","dir":"c2s","frame":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"ts":"2026-01-01T00:00:01Z","dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_file","description":"read_file","inputSchema":{"type":"object"}}]}}}
END
$COALMINE lock --out "$WORK/tmp/lock" only.jsonl || exit 99
rm only.jsonl
guard="gate --lock $WORK/tmp/lock"
test "$2" = gate || guard=tap
python3 $LIB/gate_client.py "$1" $COALMINE $guard --log-dir "$OUT" -- python3 $LIB/gate_server.py
