# SPDX-License-Identifier: Apache-2.0
# What the series of containers take in memory when all of metrics.maxSeries are in use, and what their
# page takes in CPU time and size.

bench_metrics() {
	local round what number
	for round in {1..7}; do
		while read -r what number; do
			case $what in
			memory | *_size) number=$(awk -v n="$number" 'BEGIN { print n / 1024 }') ;;
			esac
			sample "metrics_$what" graced "$number"
		done < <("$tools/bench_metrics")
	done
	row metrics_memory "memory of 1,000 series of containers" KiB -
	row metrics_text "a page at the default limit of 10,000 lines" us -
	row metrics_text_size "  its size" KiB -
	row metrics_protobuf "  as protobuf" us -
	row metrics_protobuf_size "  its size as protobuf" KiB -
}
