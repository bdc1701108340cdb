// SPDX-License-Identifier: Apache-2.0
/* Decodes the middle part of a token, and reads its numbers. */
#include "wire/kubernetes/token.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"

/* The middle of three parts; NULL for any other number of them. */
static const char *find_claims(const char *token, size_t *ret_len)
{
	const char *first = strchr(token, '.');
	const char *second = first ? strchr(first + 1, '.') : NULL;

	if (!second || strchr(second + 1, '.'))
		return NULL;
	*ret_len = (size_t)(second - first - 1);
	return first + 1;
}

/* Seconds since 1970, which may have a fraction; 0 for what is no number, or out of range. */
static int64_t read_time(const json_t *claims, const char *name)
{
	const json_t *member = json_object_get(claims, name);
	double value;

	if (json_is_integer(member))
		return json_integer_value(member);
	value = json_real_value(member);
	return value >= 1 && value <= (double)CREDENTIAL_LAST_S ? (int64_t)value : 0;
}

bool jwt_read(const char *token, struct credential *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	const char *part;
	json_t *claims;
	int64_t issued_s;
	size_t len;
	bool known;

	*ret = (struct credential){};
	part = find_claims(token, &len);
	text = part ? malloc(len + 1) : NULL;
	if (!text)
		return false;
	claims = json_loadb(text, base64_decode(part, len, BASE64_URL, text), JSON_ALLOW_NUL, NULL);
	issued_s = read_time(claims, "iat");
	known = credential_set(CREDENTIAL_TOKEN, issued_s > 0 ? issued_s : read_time(claims, "nbf"),
			       read_time(claims, "exp"), ret);
	json_decref(claims);
	return known;
}
