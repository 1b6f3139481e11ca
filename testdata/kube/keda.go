package main

import (
	"fmt"

	batch "k8s.io/api/batch/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlStrict "sigs.k8s.io/yaml"
)

// The members of KEDA's resources that are used here, after keda.sh/docs, "ScaledJob spec" and
// "NATS JetStream". The module of KEDA itself would bring every scaler's client.
type (
	scaledJob struct {
		meta.TypeMeta   `json:",inline"`
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			JobTargetRef               batch.JobSpec `json:"jobTargetRef"`
			PollingInterval            *int32        `json:"pollingInterval"`
			SuccessfulJobsHistoryLimit *int32        `json:"successfulJobsHistoryLimit"`
			FailedJobsHistoryLimit     *int32        `json:"failedJobsHistoryLimit"`
			MinReplicaCount            *int32        `json:"minReplicaCount"`
			MaxReplicaCount            *int32        `json:"maxReplicaCount"`
			ScalingStrategy            struct {
				Strategy string `json:"strategy"`
			} `json:"scalingStrategy"`
			Triggers []trigger `json:"triggers"`
		} `json:"spec"`
	}
	trigger struct {
		Type              string            `json:"type"`
		Metadata          map[string]string `json:"metadata"`
		AuthenticationRef *struct {
			Name string `json:"name"`
		} `json:"authenticationRef"`
	}
)

// jetStream are the settings that KEDA's scaler of NATS JetStream takes, and whether it has to have them.
var jetStream = map[string]bool{
	"natsServerMonitoringEndpoint": true, "account": true, "stream": true, "consumer": true,
	"lagThreshold": false, "activationLagThreshold": false, "useHttps": false,
}

func checkKEDA(kind string, text []byte) error {
	if kind != "ScaledJob" {
		return fmt.Errorf("the kind %s of KEDA is not known here", kind)
	}
	var j scaledJob
	if err := yamlStrict.UnmarshalStrict(text, &j); err != nil {
		return err
	}
	if len(j.Spec.Triggers) == 0 || len(j.Spec.JobTargetRef.Template.Spec.Containers) == 0 {
		return fmt.Errorf("it has no trigger or no container")
	}
	for _, t := range j.Spec.Triggers {
		if t.Type != "nats-jetstream" {
			return fmt.Errorf("the trigger %s is not known here", t.Type)
		}
		for name, needed := range jetStream {
			if _, ok := t.Metadata[name]; needed && !ok {
				return fmt.Errorf("the trigger has no %s", name)
			}
		}
		for name := range t.Metadata {
			if _, ok := jetStream[name]; !ok {
				return fmt.Errorf("the trigger has a member %s that is not known here", name)
			}
		}
	}
	return nil
}
