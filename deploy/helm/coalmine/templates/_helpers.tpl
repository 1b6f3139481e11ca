{{- define "coalmine.image" -}}
{{ required "image.name is needed" .Values.image.name }}@{{ required "image.digest is needed" .Values.image.digest }}
{{- end }}

{{- define "coalmine.labels" -}}
app.kubernetes.io/name: coalmine
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "coalmine.selector" -}}
app.kubernetes.io/name: coalmine
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{- define "coalmine.worker" -}}
serviceAccountName: {{ .Release.Name }}-worker
automountServiceAccountToken: false
enableServiceLinks: false
hostUsers: false
terminationGracePeriodSeconds: 60
containers:
  - name: worker
    image: {{ include "coalmine.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      - sweep
      - work
      - --queue={{ .Values.queue.addresses }}
      - --queue-credentials=/etc/coalmine/work.creds
      - --workers=1
      - --max-jobs={{ if .Values.keda.enabled }}1{{ else }}{{ .Values.worker.maxJobs }}{{ end }}
      - --budget={{ .Values.budget }}
      - --sandbox={{ .Values.sandbox }}
      - --metrics=0.0.0.0:9464
    ports:
      - {name: metrics, containerPort: 9464}
    livenessProbe:
      httpGet: {path: /healthz, port: metrics}
      periodSeconds: 30
    readinessProbe:
      httpGet: {path: /readyz, port: metrics}
      periodSeconds: 10
    resources: {{- toYaml .Values.worker.resources | nindent 6 }}
    securityContext:
      runAsUser: 0
      privileged: false
      procMount: Unmasked
      seccompProfile: {type: Unconfined}
      appArmorProfile: {type: Unconfined}
    volumeMounts:
      - {name: credentials, mountPath: /etc/coalmine, readOnly: true}
      - {name: tmp, mountPath: /tmp}
volumes:
  - name: credentials
    secret: {secretName: {{ .Values.queue.workSecret }}, defaultMode: 256}
  - name: tmp
    emptyDir: {sizeLimit: 10Gi}
{{- end }}
