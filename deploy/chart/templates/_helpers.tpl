{{- /* "" for what is enabled and "#" for what is not: an optional line that is off is a comment of the
rendered manifest, where it can be enabled by hand. */}}
{{- define "graced.on" -}}
{{- ternary "" "#" . -}}
{{- end }}

{{- define "graced.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default ($.Chart.AppVersion | replace "+" "_") }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* What the schema cannot say in words that help. */}}
{{- define "graced.validate" -}}
{{- if and .Values.api.events (not .Values.api.enabled) -}}
{{- fail "api.events requires api.enabled: true" -}}
{{- end -}}
{{- if and .Values.kubelet.nodesProxy (not .Values.kubelet.url) -}}
{{- fail "kubelet.nodesProxy requires kubelet.url: true" -}}
{{- end -}}
{{- if and .Values.kubelet.caFile (not .Values.kubelet.url) -}}
{{- fail "kubelet.caFile requires kubelet.url: true" -}}
{{- end -}}
{{- if and .Values.tls.enabled (not .Values.tls.secretName) -}}
{{- fail "tls.enabled requires tls.secretName, a Secret with tls.crt and tls.key" -}}
{{- end -}}
{{- if and .Values.tls.secretName (not .Values.tls.enabled) -}}
{{- fail "tls.secretName requires tls.enabled: true" -}}
{{- end -}}
{{- if hasKey .Values.podLabels "app.kubernetes.io/name" -}}
{{- fail "podLabels cannot have app.kubernetes.io/name, by which the DaemonSet selects its pods" -}}
{{- end -}}
{{- end }}

{{- /* A ClusterRoleBinding of graced's service account: (list . NAME). */}}
{{- define "graced.binding" -}}
{{- $name := index . 1 -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $name }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: graced
    namespace: {{ (index . 0).Release.Namespace }}
{{- end }}
