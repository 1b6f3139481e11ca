package sinkhole

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

var (
	metadataAddr = netip.MustParseAddr("169.254.169.254")
	// taskAddr is where AWS gives credentials to a container.
	taskAddr = netip.MustParseAddr("169.254.170.2")
)

// metadataNames all lead to metadataAddr.
var metadataNames = map[string]bool{
	"metadata.google.internal": true, "metadata": true, "metadata.goog": true, "instance-data": true, "instance-data.ec2.internal": true,
}

func isMetadata(dest netip.Addr, host string) bool {
	return dest == metadataAddr || dest == taskAddr || metadataNames[canonical(host)]
}

const instance = "i-0b7e4c1f5a29d3806"

// page answers as the metadata services of AWS, Google Cloud and Azure do.
func (m Metadata) page(r *http.Request) page {
	p := r.URL.Path
	switch {
	case strings.HasPrefix(p, "/computeMetadata/"):
		return m.google(r)
	case strings.HasPrefix(p, "/metadata/"):
		return m.azure(r)
	case strings.HasPrefix(p, "/v2/credentials"), strings.HasPrefix(p, "/v4/"):
		return m.awsKeys()
	case p == "/latest/api/token":
		if r.Method != http.MethodPut {
			return page{status: http.StatusMethodNotAllowed}
		}
		return text("AQAEAKr5ZzVb0mG8x1nWc3dYhQ7uTfLp2sKjR9eXoBvNyIaMwHgD4w==",
			map[string]string{"X-Aws-Ec2-Metadata-Token-Ttl-Seconds": "21600"})
	}
	return m.aws(p)
}

func text(body string, header map[string]string) page {
	return page{status: http.StatusOK, kind: "text/plain", body: body, header: header}
}

func object(v any, header map[string]string) page {
	body, _ := json.Marshal(v)
	return page{status: http.StatusOK, kind: "application/json", body: string(body), header: header}
}

var missing = page{status: http.StatusNotFound, kind: "text/plain", body: "Not Found"}

func (m Metadata) aws(p string) page {
	const roles = "/latest/meta-data/iam/security-credentials"
	switch strings.TrimSuffix(p, "/") {
	case "":
		return text("latest", nil)
	case "/latest":
		return text("dynamic\nmeta-data\nuser-data", nil)
	case "/latest/meta-data":
		return text("ami-id\nhostname\niam/\ninstance-id\ninstance-type\nlocal-ipv4\nplacement/", nil)
	case "/latest/meta-data/ami-id":
		return text("ami-0c7217cdde317cfec", nil)
	case "/latest/meta-data/hostname", "/latest/meta-data/local-hostname":
		return text("ip-172-17-0-2.ec2.internal", nil)
	case "/latest/meta-data/instance-id":
		return text(instance, nil)
	case "/latest/meta-data/instance-type":
		return text("t3.medium", nil)
	case "/latest/meta-data/local-ipv4":
		return text("172.17.0.2", nil)
	case "/latest/meta-data/placement/region":
		return text("us-east-1", nil)
	case "/latest/meta-data/placement/availability-zone":
		return text("us-east-1b", nil)
	case "/latest/dynamic/instance-identity/document":
		return object(map[string]string{"instanceId": instance, "region": "us-east-1", "instanceType": "t3.medium"}, nil)
	case "/latest/meta-data/iam":
		return text("info\nsecurity-credentials/", nil)
	case roles:
		if m.role() == "" {
			return missing
		}
		return text(m.role(), nil)
	case roles + "/" + m.role():
		return m.awsKeys()
	}
	return missing
}

func (m Metadata) role() string {
	if m.Role == "" && m.AccessKeyID != "" {
		return "app-instance-role"
	}
	return m.Role
}

func (m Metadata) awsKeys() page {
	if m.AccessKeyID == "" {
		return missing
	}
	at := time.Now().UTC()
	return object(map[string]string{
		"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": at.Add(-time.Hour).Format(time.RFC3339), "Expiration": at.Add(5 * time.Hour).Format(time.RFC3339),
		"AccessKeyId": m.AccessKeyID, "SecretAccessKey": m.SecretAccessKey, "Token": m.SessionToken,
	}, nil)
}

func (m Metadata) google(r *http.Request) page {
	flavor := map[string]string{"Metadata-Flavor": "Google", "Server": "Metadata Server for VM"}
	if r.Header.Get("Metadata-Flavor") != "Google" {
		return page{status: http.StatusForbidden, kind: "text/html", body: "Missing Metadata-Flavor:Google header.", header: flavor}
	}
	switch p := strings.TrimPrefix(r.URL.Path, "/computeMetadata/v1/"); {
	case strings.HasPrefix(p, "instance/service-accounts/") && strings.HasSuffix(p, "/token") && m.AccessToken != "":
		return object(map[string]any{"access_token": m.AccessToken, "expires_in": 3599, "token_type": "Bearer"}, flavor)
	case p == "instance/service-accounts/":
		return text("default/\n"+m.Account+"/\n", flavor)
	case strings.HasPrefix(p, "instance/service-accounts/") && strings.HasSuffix(p, "/email"):
		return text(m.Account, flavor)
	case p == "project/project-id":
		return text(m.Project, flavor)
	case p == "", p == "instance/":
		return text("instance/\nproject/\n", flavor)
	}
	return page{status: missing.status, kind: missing.kind, body: missing.body, header: flavor}
}

func (m Metadata) azure(r *http.Request) page {
	if r.Header.Get("Metadata") != "true" {
		return page{status: http.StatusBadRequest, kind: "application/json", body: `{"error":"Bad request: Required metadata header not specified"}`}
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/metadata/identity/oauth2/token") && m.AccessToken != "":
		return object(map[string]string{"access_token": m.AccessToken, "expires_in": "86399", "token_type": "Bearer", "resource": r.URL.Query().Get("resource")}, nil)
	case strings.HasPrefix(r.URL.Path, "/metadata/instance"):
		return object(map[string]any{"compute": map[string]string{"location": "eastus", "name": "vm-app-01", "vmSize": "Standard_B2s"}}, nil)
	}
	return missing
}
