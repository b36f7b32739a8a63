{{- define "opc.labels" -}}
app.kubernetes.io/name: ops-pod-cleaner
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "opc.selector" -}}
app.kubernetes.io/name: ops-pod-cleaner
{{- end }}

{{- define "opc.secret" -}}
{{ .Values.existingSecret | default "ops-pod-cleaner-config" }}
{{- end }}

{{/* What `ops-pod-cleaner rbac` prints, for the namespace of this release, which makes its namespace itself. */}}
{{- define "opc.printed" -}}
{{- $ns := .root.Release.Namespace }}
{{- range $document := splitList "\n---\n" (printf "\n%s" .text) }}
{{- if not (contains "\nkind: Namespace\n" $document) }}
---
{{ $document | replace "namespace: ops-pod-cleaner" (printf "namespace: %s" $ns) | replace "serviceaccount:ops-pod-cleaner:" (printf "serviceaccount:%s:" $ns) | replace "variables.ns == 'ops-pod-cleaner'" (printf "variables.ns == '%s'" $ns) | trim }}
{{- end }}
{{- end }}
{{- end }}
