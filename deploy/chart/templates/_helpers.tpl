{{- define "opc.labels" -}}
app.kubernetes.io/name: ops-pod-cleaner
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "opc.selector" -}}
app.kubernetes.io/name: ops-pod-cleaner
{{- end }}

{{- define "opc.secret" -}}
{{ .Values.existingSecret | default "ops-pod-cleaner-config" }}
{{- end }}

{{/* The duties as they are given, or the chart's own. */}}
{{- define "opc.duties" -}}
{{- $file := fromYaml .Values.configFile }}
{{- with $file.Error }}
{{- fail (printf "configFile is no YAML: %s" .) }}
{{- end }}
{{- if hasKey $file "metricsListen" }}
{{- fail "configFile: the probes ask port 9464, so metricsListen has no place in it" }}
{{- end }}
{{- $own := fromYaml (.Files.Get "files/duties.yml") }}
{{- toYaml ($file | default .Values.config | default $own) }}
{{- end }}

{{- define "opc.config" -}}
{{- $all := dict "kubeconfig" "credentials/reader" "writerKubeconfig" "credentials/writer" "leaderElection" (dict "enable" true) }}
{{- $all = mergeOverwrite $all (fromYaml (include "opc.duties" .)) }}
{{- with .Values.mode }}
{{- $_ := set $all "mode" . }}
{{- end }}
{{- range $key := list "kubeconfig" "writerKubeconfig" }}
{{- $file := index $all $key | toString | trimPrefix "/etc/ops-pod-cleaner/" }}
{{- if not (or (hasPrefix "credentials/" $file) (hasKey $.Values.secretFiles $file)) }}
{{- fail (printf "%s: no pod has the file %q: leave the key out, and it is the chart's own, or give the file in secretFiles" $key $file) }}
{{- end }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{/* The text that was given, or the chart's own, which fits the chart's own configuration only. */}}
{{- define "opc.manifest" -}}
{{- $own := fromYaml (.root.Files.Get "files/duties.yml") }}
{{- if and (not .given) (or .root.Values.existingSecret (ne (toYaml $own) (include "opc.duties" .root))) }}
{{- fail (printf "the configuration needs other rights than the chart's own: print them, `ops-pod-cleaner rbac%s --config FILE >%s.yaml`, and give them with --set-file %s.manifest=%s.yaml; or apply them yourself, with --set %s.create=false" .option .name .name .name .name) }}
{{- end }}
{{- .given | default (.root.Files.Get (printf "files/%s" .file)) }}
{{- end }}

{{/* What `ops-pod-cleaner rbac` prints, for the namespace of this release, which makes its namespace itself. */}}
{{- define "opc.printed" -}}
{{- $ns := .root.Release.Namespace }}
{{- range $document := splitList "\n---\n" (printf "\n%s" .text) }}
{{- if not (contains "\nkind: Namespace\n" $document) }}
---
{{ $document | replace "namespace: ops-pod-cleaner" (printf "namespace: %s" $ns) | trim }}
{{- end }}
{{- end }}
{{- end }}
