# SPDX-License-Identifier: Apache-2.0
# Whether each pod of a list has done all that it does before it is deleted.
#   jq -e -f acted.jq --argjson pods COUNT LIST

def ready: all(.status.conditions[]?; .type != "Ready" or .status == "True") and
	.status.phase == "Running";

def one($name): .status.containerStatuses // [] | map(select(.name == $name)) | first;

(.items | length) == $pods and all(.items[];
	.metadata.name as $name |
	if $name == "loop" then one("main").restartCount >= 2
	elif $name == "probed" then one("main").restartCount >= 1 and ready
	elif $name == "done" then .status.phase == "Succeeded"
	elif $name == "hungry" then one("main").state.terminated != null and one("beside").ready
	else ready end)
