package rules

// Advice says what a reader does about a rule's findings.
type Advice struct {
	// Why says in a sentence why a finding matters.
	Why string
	// Fix says in a sentence how an author changes the server's code.
	Fix string
	// Preview marks a rule whose severity and scope may still change; other rules are stable.
	Preview bool
}

// Tier is "stable" or "preview".
func (a Advice) Tier() string {
	if a.Preview {
		return "preview"
	}
	return "stable"
}

// AdviceOf returns the advice for a rule, the zero Advice for one that it does not know.
func AdviceOf(id string) Advice { return advice[id] }

// Fixes that several rules share.
const (
	fixDeclareNetwork = "Declare the network use: name the service in the description and set openWorldHint to true. Otherwise remove the request."
	fixSecret         = "Read only the credential that the tool needs, and name it in the description. Never read credential files of other programs."
	fixInput          = "Validate arguments against the inputSchema before use, and return an error for other arguments."
)

var advice = map[string]Advice{
	"CM101": {Why: "On a user's machine this file holds a real credential.", Fix: fixSecret},
	"CM102": {Why: "The client and its model now have the credential, and so does every log of the session.", Fix: "Remove credentials from results. Return only the fields that the tool declares."},
	"CM103": {Why: "Whoever runs the receiving host has the credential.", Fix: "Remove the code that sends the credential. Rotate real credentials that this server could read."},
	"CM104": {Why: "Environment variables often hold credentials, and results reach the model and logs.", Fix: "Pass child processes only the variables that they need, and never print the environment."},
	"CM105": {Why: "The file lists other MCP servers and their credentials.", Fix: "Do not read the configuration of clients. Take settings from arguments or the server's own environment variables."},
	"CM106": {Why: "On a cloud machine this address returns credentials of the machine.", Fix: "Disable the credential lookup of the cloud library (AWS_EC2_METADATA_DISABLED=true), or declare the cloud that the tool uses."},
	"CM107": {Why: "Encrypted traffic can carry any data, so coalmine cannot rule out exfiltration.", Fix: "Trust the system's certificate store. If pinning is required, accept the host with accept_opaque."},
	"CM108": {Why: "A credential and a connection in one call are enough for exfiltration, whatever the payload looks like.", Fix: "Separate both: do not open credential files in a tool that uses the network, or declare both."},
	"CM109": {Why: "The server acts with the user's account, and nothing tells the user.", Fix: "Name the service and the credential in the tool's description."},
	"CM110": {Why: "A copied credential spreads with the file: into repositories, backups and archives.", Fix: "Do not copy credentials. Refer to the original file instead."},
	"CM111": {Why: "Random-looking data that changes with the secrets contains them in some form.", Fix: "Remove credentials from the data before it is encrypted or hashed. Declare request signing if that is the purpose.", Preview: true},
	"CM112": {Why: "The list of accounts helps an attacker choose a target.", Fix: "Do not read /etc/passwd. Ask the operating system only for the current user."},
	"CM113": {Why: "What users type into tools can be confidential, and nobody told them about this host.", Fix: fixDeclareNetwork, Preview: true},
	"CM114": {Why: "Nobody reviewed the downloaded code, and it can change between two runs.", Fix: "Ship the program in the package, or verify the download against a pinned hash before running it.", Preview: true},
	"CM115": {Why: "Rows about other people reach the model, and nobody asked for them.", Fix: "Select only the rows that the call names, or say in the description which tables the tool shows.", Preview: true},
	"CM201": {Why: "Clients run read-only tools without asking the user.", Fix: "Remove the write, or set readOnlyHint to false."},
	"CM202": {Why: "Users and clients rely on a local tool keeping data on the machine.", Fix: "Remove the request, or set openWorldHint to true and change the description."},
	"CM203": {Why: "Users can lose data in a call that announces no deletion.", Fix: "Delete only files that the server created, or declare the deletion and set destructiveHint to true."},
	"CM204": {Why: "An undeclared program can do anything that the user can.", Fix: "Name the program in the description, or use a library instead."},
	"CM205": {Why: "What an install script downloads is in no lock file, so it can change at any time.", Fix: "Ship prebuilt files in the package, or verify downloads against a pinned hash."},
	"CM206": {Why: "This access is a step towards leaving the sandbox or controlling other processes.", Fix: "Remove the call. If the server starts a browser or a debugger, say so in the description."},
	"CM207": {Why: "The connection happens before the user asks for anything, as telemetry does.", Fix: "Connect only in a call, or make telemetry opt-in and document it."},
	"CM208": {Why: "Your policy does not allow this.", Fix: "Remove the behaviour, or change the policy after a review."},
	"CM209": {Why: "Users cannot expect this connection from the description.", Fix: fixDeclareNetwork},
	"CM210": {Why: "Hiding from a tracer is typical of malware.", Fix: "Remove every check for a tracer or debugger (TracerPid, ptrace)."},
	"CM211": {Why: "Other programs, web pages or machines can talk to this port.", Fix: "Listen on a Unix socket or on loopback with authentication, and declare the port."},
	"CM212": {Why: "An install script that changes user files persists after the package is removed.", Fix: "Write only below the package's own directory during the build."},
	"CM213": {Why: "A client repeats an idempotent call after a lost response, and each repetition changes more.", Fix: "Make the call idempotent, or set idempotentHint to false."},
	"CM214": {Why: "Behaviour that depends on one condition can hide from a review.", Fix: "Remove the condition, or document what depends on it.", Preview: true},
	"CM215": {Why: "Files that other programs execute or trust are a way to persist or to gain more rights.", Fix: "Write only to paths from arguments or to the server's own state directory, and declare the change."},
	"CM216": {Why: "A search for credentials precedes their theft.", Fix: fixSecret},
	"CM217": {Why: "Clients run read-only tools without asking the user, and rows that are gone may be in no backup.", Fix: "Connect with a role that cannot change what the tool does not declare to change, or correct the hints.", Preview: true},
	"CM218": {Why: "A database that runs programs or writes files gives its machine to whoever can send statements.", Fix: "Connect with a role without these rights (no superuser, no FILE), and remove the statement.", Preview: true},
	"CM219": {Why: "Everybody in the network can call the tools, with the user's files and credentials behind them.", Fix: "Listen on 127.0.0.1, and require a credential where other machines are to connect.", Preview: true},
	"CM301": {Why: "Whoever controls the argument, such as a prompt injection, runs commands on the user's machine.", Fix: "Run programs without a shell: pass a list of arguments (subprocess.run([...]), execFile, exec.Command)."},
	"CM302": {Why: "Options of programs such as git, tar and find can run commands or write files.", Fix: "Put -- before the argument, or reject values that begin with a dash."},
	"CM303": {Why: "Whoever controls the argument reads or writes files outside the promised directory.", Fix: "Resolve the path with realpath and require the directory and its separator as prefix (Path.is_relative_to, filepath.IsLocal, os.Root)."},
	"CM304": {Why: "Whoever controls the argument sends requests from the user's machine to internal services.", Fix: "Allow only listed hosts. Resolve the name, reject private and link-local addresses, and check each redirect."},
	"CM305": {Why: "Whoever controls the argument runs code in the server's process.", Fix: "Parse the value instead of evaluating it (ast.literal_eval, JSON, yaml.safe_load), and never compile templates from arguments."},
	"CM306": {Why: "Nobody reviews a tool that tools/list does not show.", Fix: "List the tool, or reject calls of tools that are not in the list.", Preview: true},
	"CM307": {Why: "One call changes the behaviour of the server for all later calls.", Fix: "Merge objects with Object.create(null) or a Map, and reject __proto__, constructor and prototype keys."},
	"CM308": {Why: "Nobody reviews an argument that the schema does not show.", Fix: "Declare the argument, or set additionalProperties to false and reject it.", Preview: true},
	"CM309": {Why: "Whoever controls the argument reads and changes everything that the server's role can.", Fix: "Pass values as parameters of the statement ($1, ?), and check names of tables and columns against a list.", Preview: true},
	"CM310": {Why: "Whoever serves or changes the document runs commands on the user's machine.", Fix: "Never run what was fetched. Ship code with the package, or check a pinned digest or a signature first.", Preview: true},
	"CM311": {Why: "A page that somebody else writes chooses where the server sends requests.", Fix: "Ask only the address that the call names. Where links are followed, resolve each and reject private and link-local addresses.", Preview: true},
	"CM312": {Why: "The model follows the text, and whoever serves the document can change it at any time.", Fix: "Declare tools with texts of the package. Show fetched text in results only.", Preview: true},
	"CM401": {Why: "The model follows instructions in a declaration, and the user does not see them.", Fix: "Describe only the tool. Remove instructions about other tools, secrets or the user."},
	"CM402": {Why: "The model reads text that a reviewer cannot see.", Fix: "Remove invisible and reordering characters from declarations."},
	"CM403": {Why: "A client that reads this line can fail or disconnect.", Fix: "Write logs to stderr. Write only JSON-RPC messages to stdout."},
	"CM404": {Why: "The MCP specification forbids requests without the client's capability.", Fix: "Check the client's capabilities from initialize before each request."},
	"CM405": {Why: "The client or model invented this tool.", Fix: "Call only tools of the newest tools/list."},
	"CM406": {Why: "The server may fail or do something else with such arguments.", Fix: fixInput},
	"CM407": {Why: "Without the handshake and tools/list the client does not know what it calls.", Fix: "Send initialize, notifications/initialized and tools/list before the first call."},
	"CM408": {Why: "Clients reject or ignore unknown requests.", Fix: "Use only methods of the negotiated protocol version."},
	"CM409": {Why: "A client can take it for the response to another request.", Fix: "Send exactly one response with the id of each request."},
	"CM410": {Why: "The data reaches the model and every log of the session.", Fix: "Redact credentials and personal data from results."},
	"CM411": {Why: "The server and its logs get the data.", Fix: "Do not put credentials into arguments. Configure them in the server's environment."},
	"CM412": {Why: "The call can send data to a host that the user does not expect.", Fix: "Restrict the tool to declared hosts, or declare that it accepts any host."},
	"CM413": {Why: "Clients that validate results reject this one.", Fix: "Return structuredContent that matches the outputSchema, or correct the schema."},
	"CM414": {Why: "The model follows instructions in a response, and the user does not see them.", Fix: "Return data only. Mark content of third parties, and remove invisible characters."},
	"CM415": {Why: "The argument can change the roles in a prompt that the server builds.", Fix: "Escape or remove prompt delimiters and invisible characters before building a prompt."},
	"CM416": {Why: "The model may call this server where the user means the other one.", Fix: "Use unique tool names, and do not mention tools of other servers in descriptions."},
	"CM417": {Why: "Findings may be missing.", Fix: "Run with fewer calls, or report the failed detector."},
	"CM418": {Why: "The gate changed what crossed the wire.", Fix: "Change the policy or the lock if the gate should decide otherwise."},
	"CM419": {Why: "The secret passes through the client and its logs. The MCP specification forbids this.", Fix: "Use URL mode elicitation or an environment variable for credentials."},
	"CM420": {Why: "A client that renders the image sends the data without a click.", Fix: "Return images as content, not as URLs, and never put user data into URLs."},
	"CM421": {Why: "Your own text judge found an instruction to the model.", Fix: "Review the text and remove the instruction.", Preview: true},
	"CM501": {Why: "The user approved another declaration than the one that the model now reads.", Fix: "Keep declarations constant during a session. Announce real changes with notifications/tools/list_changed and document them."},
	"CM502": {Why: "A pull request that changes its own policy could approve itself.", Fix: "Review the policy change, and merge it separately."},
	"CM503": {Why: "The user may approve one definition while the model uses the other.", Fix: "Use one definition for each name."},
	"CM504": {Why: "Nobody has reviewed what the server declares now, and clients do not ask again.", Fix: "Review the difference, then record the new state (coalmine lock). Authors: publish a new version for each change.", Preview: true},
	"CM505": {Why: "An update, or the server's author, made the server do something new.", Fix: "Read the changes of the server and its dependencies. Authors: declare the behaviour.", Preview: true},
	"CM601": {Why: "The client loses the server and the state of the session.", Fix: "Catch the error, and return a JSON-RPC error or a result with isError."},
	"CM602": {Why: "The client waits until its own timeout.", Fix: "Return an error before the client's timeout, and send progress notifications for long work."},
	"CM603": {Why: "One call can exhaust the user's machine.", Fix: "Limit the memory, output and processes that one call can use."},
	"CM604": {Why: "The process stays after the client has gone.", Fix: "Exit when stdin reaches its end, and end all child processes."},
	"CM701": {Why: "Everybody on the way reads the messages and credentials, and can change them.", Fix: "Serve MCP over https only, redirect nothing to http, and send Strict-Transport-Security.", Preview: true},
	"CM702": {Why: "A client that accepts the connection cannot tell the server from an attacker.", Fix: "Install a valid certificate of a trusted authority and renew it automatically. Require TLS 1.2 or later.", Preview: true},
	"CM703": {Why: "A web page can call the tools through the user's browser.", Fix: "Reject requests whose Origin or Host is not in a list of allowed values with status 403, and bind local servers to 127.0.0.1.", Preview: true},
	"CM704": {Why: "Whoever guesses or keeps a session id reads and sends messages in another user's session.", Fix: "Use random ids of at least 128 bits, reject unknown ids with status 404, and bind each id to its user.", Preview: true},
	"CM705": {Why: "Others can use the tools, or obtain a user's token.", Fix: "Validate the token's signature, audience and expiry on each request. Publish RFC 9728 metadata, and require PKCE with S256.", Preview: true},
	"CM706": {Why: "The messages and credentials go to a host that nobody approved.", Fix: "Serve MCP at the configured address. Announce a move in the documentation instead of a redirect.", Preview: true},

	"taint-argument":   {Why: "Options of some programs run commands or write files.", Fix: "Put -- before the parameter, or reject values that begin with a dash."},
	"taint-code":       {Why: "Whoever controls the parameter runs code in the server's process.", Fix: "Parse the value, or choose it from a list."},
	"taint-command":    {Why: "Whoever controls the parameter runs commands on the user's machine.", Fix: "Pass a list of arguments without a shell."},
	"taint-object":     {Why: "A crafted document runs code when it is loaded.", Fix: "Use JSON or a safe loader."},
	"taint-path":       {Why: "Whoever controls the parameter chooses files outside the directory.", Fix: "Resolve the path and compare it with the directory and its separator."},
	"taint-request":    {Why: "Whoever controls the parameter reaches internal services.", Fix: "Allow only listed hosts."},
	"taint-nosql":      {Why: "Whoever controls the parameter changes which documents the query reads or writes.", Fix: "Hold the parameter to be a text, and compare it by `$eq`."},
	"taint-prototype":  {Why: "Whoever controls the parameter changes all objects of the server, and with them what its other tools do.", Fix: "Refuse `__proto__`, `constructor` and `prototype` as keys, or use a Map."},
	"taint-sql":        {Why: "Whoever controls the parameter changes the statement.", Fix: "Use placeholders for values, and a list for names."},
	"secret-hardcoded": {Why: "Everybody who has the source has the credential.", Fix: "Revoke the credential, and read it from the environment."},
	"tool-poisoning":   {Why: "The model follows instructions that the user does not see.", Fix: "Remove the instructions."},
	"unicode-hidden":   {Why: "A reviewer does not see what runs or what the model reads.", Fix: "Remove the characters."},
	"dep-surface":      {Why: "Each dependency runs with the rights of the server.", Fix: "Remove dependencies that the server does not need."},
}
