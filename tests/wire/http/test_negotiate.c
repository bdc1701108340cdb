// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/http/request: what real scrapers ask for they get, and nonsense gets text. */
#include "lib/claim.h"
#include "wire/http/request.h"

#define OM   EXPO_OPENMETRICS
#define TEXT EXPO_TEXT
#define PB   EXPO_PROTOBUF
#define PB_NAME                                                                    \
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;" \
	"encoding=delimited"

struct accept_case {
	const char *accept;
	enum expo_format format;
};

static void check(const struct accept_case *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		print_message("%s\n", table[i].accept ? table[i].accept : "(none)");
		assert_int_equal(negotiate_format(table[i].accept), table[i].format);
	}
}

static void test_scrapers(void **state)
{
	static const struct accept_case table[] = {
		/* Prometheus 2.5, 2.42, 2.55 and 3.0 */
		{"application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,"
		 "*/*;q=0.1",
		 TEXT},
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		 "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 OM},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		 "encoding=delimited;q=0.5,application/openmetrics-text;version=1.0.0;q=0.4,"
		 "application/openmetrics-text;version=0.0.1;q=0.3,text/plain;version=0.0.4;q=0.2,"
		 "*/*;q=0.1",
		 PB},
		/* 2.42 with native histograms, 3.0 with all that it knows */
		{PB_NAME ",application/openmetrics-text;version=1.0.0;q=0.8,"
			 "application/openmetrics-text;version=0.0.1;q=0.75,"
			 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 PB},
		{PB_NAME ";escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=1.0.0;"
			 "escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 PB},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		 "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;"
		 "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 OM},
		/* the scrape protocol PrometheusText0.0.4 */
		{"text/plain;version=0.0.4;q=0.6,*/*;q=0.5", TEXT},
		/* curl, Firefox, VictoriaMetrics */
		{"*/*", TEXT},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", TEXT},
		{"text/plain;version=0.0.4;q=1,*/*;q=0.1", TEXT},
		{NULL, TEXT},
		{"", TEXT},
	};

	check(table, LEN(table));
}

static void test_weights(void **state)
{
	static const struct accept_case table[] = {
		{"application/openmetrics-text", OM},
		{"APPLICATION/OpenMetrics-Text; Version=1.0.0; Q=0.5", OM},
		{"application/openmetrics-text;version=\"1.0.0\"", OM},
		{"application/openmetrics-text;version=0.0.1", TEXT},
		{"application/openmetrics-text;version=2.0.0,*/*;q=0.1", TEXT},
		{"application/openmetrics-text;q=0", TEXT},
		{"application/openmetrics-text;q=0.000,*/*", TEXT},
		{"application/openmetrics-text,text/plain", OM},
		{"application/openmetrics-text;q=0.5,text/plain;q=0.5", OM},
		{"application/openmetrics-text;q=0.5,text/plain;q=0.501", TEXT},
		{"application/openmetrics-text;q=0.1,text/plain;q=0", OM},
		{"application/openmetrics-text;q=0.1,text/plain;version=1.0.0", OM},
		{"application/openmetrics-text;q=0.1,*/*", TEXT},
		{"application/openmetrics-text,*/*", OM},
		{"application/*", OM},
		{"application/*,text/*", TEXT},
		{"text/*;q=0.1,application/*;q=0.2", OM},
		{"*/*;q=0.9,text/plain;q=0.1", OM},
		{PB_NAME, PB},
		{"Application/Vnd.Google.Protobuf; Proto=\"io.prometheus.client.metricfamily\" ; "
		 "Encoding=Delimited",
		 PB},
		{PB_NAME ";q=0", TEXT},
		{PB_NAME ";q=0.5,text/plain;q=0.5", PB},
		{PB_NAME ";q=0.5,text/plain;q=0.6", TEXT},
		{PB_NAME ";q=0.5,application/openmetrics-text;q=0.6", OM},
		{PB_NAME ";q=0.1,*/*", TEXT},
		/* another message, another encoding, or which one is not said */
		{"application/vnd.google.protobuf", TEXT},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", TEXT},
		{"application/vnd.google.protobuf;encoding=delimited", TEXT},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		 "encoding=text",
		 TEXT},
		{"application/vnd.google.protobuf;proto=other;encoding=delimited,"
		 "application/openmetrics-text",
		 OM},
		/* the closest range decides, not the heaviest or the last */
		{"application/openmetrics-text;version=1.0.0;q=0.1,application/openmetrics-text,"
		 "text/plain;q=0.5",
		 TEXT},
		{"*/*;q=0,application/openmetrics-text", OM},
		{"application/openmetrics-text,*/*;q=0", OM},
	};

	check(table, LEN(table));
}

static void test_nonsense(void **state)
{
	static const struct accept_case table[] = {
		{",,, ,;;;,", TEXT},
		{"application/openmetrics-text;q=2", TEXT},
		{"application/openmetrics-text;q=1.001", TEXT},
		{"application/openmetrics-text;q=-1", TEXT},
		{"application/openmetrics-text;q=", TEXT},
		{"application/openmetrics-text;q", TEXT},
		{"application/openmetrics-text;q=0,5", TEXT},
		{"application/openmetrics-text;q=nan", TEXT},
		{"application/openmetrics-text;q=0.5x", TEXT},
		{"application/openmetrics-text;q=0.99999999999999999999999999", OM},
		{"application/openmetrics-textual", TEXT},
		{"application/openmetrics", TEXT},
		{"application/openmetrics-text;x=\"a,b;q=0\";q=0.5", OM},
		{"text/plain;x=\"application/openmetrics-text,", TEXT},
		{"x;y=\"\\\",application/openmetrics-text\"", TEXT},
		{"application/openmetrics-text;version", OM},
		{";version=1.0.0,application/openmetrics-text ; q = 1", OM},
		{"\\\"\xff\x01,application/openmetrics-text", TEXT},
		{"\xff\x01\\,application/openmetrics-text", OM},
	};

	check(table, LEN(table));
}

static void test_coding(void **state)
{
	static const struct {
		const char *accept_encoding;
		bool gzip;
	} table[] = {
		{"gzip", true},
		{"GZIP", true},
		{"x-gzip", true},
		{"gzip, deflate, br, zstd", true},
		{"br;q=1.0, gzip;q=0.8, *;q=0.1", true},
		{"*", true},
		{"gzip;q=0.1", true},
		{"gzip;q=0.5,identity;q=0.5", true},
		{"gzip;q=0.2,identity;q=0.5", false},
		{"gzip;q=0", false},
		{"gzip;q=0,*", false},
		{"*;q=0", false},
		{"identity", false},
		{"identity;q=1, *;q=0", false},
		{"deflate", false},
		{"gzipped", false},
		{"", false},
		{NULL, false},
	};

	for (size_t i = 0; i < LEN(table); i++) {
		print_message("%s\n", table[i].accept_encoding ? table[i].accept_encoding : "-");
		assert_int_equal(negotiate_gzip(table[i].accept_encoding), table[i].gzip);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("scrapers get the format they ask for", test_scrapers),
		CLAIM("the heavier format wins, and the closest range weighs it", test_weights),
		CLAIM("what cannot be read is passed over", test_nonsense),
		CLAIM("gzip is sent to who takes it and does not prefer plain", test_coding),
	};

	return cmocka_run_group_tests_name("wire/http/request", tests, NULL, NULL);
}
