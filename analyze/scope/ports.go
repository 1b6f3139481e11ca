package scope

// Program is what listens on a port of the user's machine by convention.
type Program struct {
	Name string
	// Words are those by which a server declares that it speaks to it.
	Words []string
}

// programs are they, by port.
var programs = map[string]Program{
	"1234": {"LM Studio", []string{"studio", "lmstudio"}}, "1433": {"SQL Server", []string{"mssql", "sqlserver", "sql"}}, "1883": {"MQTT", []string{"mqtt"}},
	"2375": {"Docker", []string{"docker"}}, "3306": {"MySQL", []string{"mysql", "mariadb"}}, "5432": {"PostgreSQL", []string{"postgres", "postgresql"}},
	"5672": {"RabbitMQ", []string{"rabbitmq", "amqp"}}, "5678": {"n8n", []string{"n8n"}}, "5984": {"CouchDB", []string{"couchdb"}}, "6333": {"Qdrant", []string{"qdrant"}},
	"6379": {"Redis", []string{"redis", "valkey"}}, "6443": {"Kubernetes", []string{"kubernetes", "kubectl", "k8s"}}, "7474": {"Neo4j", []string{"neo4j"}}, "7687": {"Neo4j", []string{"neo4j"}},
	"8086": {"InfluxDB", []string{"influxdb"}}, "8123": {"ClickHouse or Home Assistant", []string{"clickhouse", "homeassistant", "assistant"}}, "8765": {"Anki", []string{"anki", "ankiconnect"}},
	"8888": {"Jupyter", []string{"jupyter", "jupyterlab"}}, "9000": {"MinIO or ClickHouse", []string{"minio", "clickhouse"}}, "9090": {"Prometheus", []string{"prometheus"}}, "9092": {"Kafka", []string{"kafka"}},
	"9200": {"Elasticsearch", []string{"elasticsearch", "opensearch"}}, "9222": {"a browser's debugger", []string{"chrome", "chromium", "browser", "devtools"}}, "11211": {"Memcached", []string{"memcached"}},
	"11434": {"Ollama", []string{"ollama"}}, "19530": {"Milvus", []string{"milvus"}}, "23119": {"Zotero", []string{"zotero"}}, "27017": {"MongoDB", []string{"mongodb", "mongo"}},
	"27123": {"Obsidian", []string{"obsidian"}}, "27124": {"Obsidian", []string{"obsidian"}}, "32400": {"Plex", []string{"plex"}},
}

// ProgramAt is what listens on a port of the user's machine, the zero value for nothing known.
func ProgramAt(port string) Program { return programs[port] }
