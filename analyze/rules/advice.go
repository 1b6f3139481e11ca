package rules

// Fixes that several rules share.
const (
	fixDeclareNetwork = "Declare the network use: name the service in the description and set openWorldHint to true. Otherwise remove the request."
	fixSecret         = "Read only the credential that the tool needs, and name it in the description. Never read credential files of other programs."
	fixInput          = "Validate arguments against the inputSchema before use, and return an error for other arguments."
)
