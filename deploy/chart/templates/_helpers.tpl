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

{{- /* Objects that kubectl apply has made of the manifests of deploy/: Helm would refuse them one by one, and
not say what to do. */}}
{{- define "graced.refuse-others" -}}
{{- $rbac := "rbac.authorization.k8s.io/v1" -}}
{{- $objects := list (list "v1" "ServiceAccount" "graced") (list "apps/v1" "DaemonSet" "graced") -}}
{{- if .Values.networkPolicy.enabled -}}
{{- $objects = append $objects (list "networking.k8s.io/v1" "NetworkPolicy" "graced") -}}
{{- end -}}
{{- range $role, $on := dict "graced-api" .Values.api.enabled "graced-events" .Values.api.events "graced-kubelet" .Values.kubelet.url -}}
{{- if $on -}}
{{- $objects = append (append $objects (list $rbac "ClusterRole" $role)) (list $rbac "ClusterRoleBinding" $role) -}}
{{- end -}}
{{- end -}}
{{- $others := list -}}
{{- range $objects -}}
{{- $namespace := ternary "" $.Release.Namespace (hasPrefix "ClusterRole" (index . 1)) -}}
{{- $found := lookup (index . 0) (index . 1) $namespace (index . 2) -}}
{{- $annotations := dig "metadata" "annotations" dict ($found | default dict) | default dict -}}
{{- if and $found (or (ne (get $annotations "meta.helm.sh/release-name") $.Release.Name) (ne (get $annotations "meta.helm.sh/release-namespace") $.Release.Namespace)) -}}
{{- $others = append $others (printf "%s/%s" (lower (index . 1)) (index . 2)) -}}
{{- end -}}
{{- end -}}
{{- with join " " $others -}}
{{- fail (printf "not made by this release, and there already: %s. Install graced by kubectl apply or by Helm, not by both. To hand them over to Helm, which keeps tokens valid, run these and install again:\n\n  kubectl label -n %s --overwrite %s app.kubernetes.io/managed-by=Helm\n  kubectl annotate -n %s --overwrite %s meta.helm.sh/release-name=%s meta.helm.sh/release-namespace=%s\n" . $.Release.Namespace . $.Release.Namespace . $.Release.Name $.Release.Namespace) -}}
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
