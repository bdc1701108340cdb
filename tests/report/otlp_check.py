#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Parses the OTLP/HTTP JSON on stdin as protobuf does, by the messages of opentelemetry-proto that
graced uses: an unknown member, a wrong type or a number out of range is an error. Prints how many
spans there are. Exit status 77 where python3-protobuf is not installed."""

import base64
import json
import sys

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except ImportError:
    sys.exit(77)

# Names, numbers and types as published: opentelemetry/proto/trace/v1/trace.proto,
# common/v1/common.proto, resource/v1/resource.proto and collector/trace/v1/trace_service.proto.
# "*" is a repeated field, "|" one of the oneof.
MESSAGES = {
    "ExportTraceServiceRequest": "resource_spans:1:*ResourceSpans",
    "ResourceSpans": "resource:1:Resource scope_spans:2:*ScopeSpans schema_url:3:string",
    "Resource": "attributes:1:*KeyValue dropped_attributes_count:2:uint32",
    "ScopeSpans": "scope:1:InstrumentationScope spans:2:*Span schema_url:3:string",
    "InstrumentationScope": "name:1:string version:2:string attributes:3:*KeyValue"
    " dropped_attributes_count:4:uint32",
    "Span": "trace_id:1:bytes span_id:2:bytes trace_state:3:string parent_span_id:4:bytes"
    " flags:16:fixed32 name:5:string kind:6:SpanKind start_time_unix_nano:7:fixed64"
    " end_time_unix_nano:8:fixed64 attributes:9:*KeyValue dropped_attributes_count:10:uint32"
    " events:11:*Event dropped_events_count:12:uint32 links:13:*Link"
    " dropped_links_count:14:uint32 status:15:Status",
    "Event": "time_unix_nano:1:fixed64 name:2:string attributes:3:*KeyValue"
    " dropped_attributes_count:4:uint32",
    "Link": "trace_id:1:bytes span_id:2:bytes trace_state:3:string attributes:4:*KeyValue"
    " dropped_attributes_count:5:uint32 flags:6:fixed32",
    "Status": "message:2:string code:3:StatusCode",
    "KeyValue": "key:1:string value:2:AnyValue",
    "AnyValue": "string_value:1:|string bool_value:2:|bool int_value:3:|int64"
    " double_value:4:|double",
}
ENUMS = {
    "SpanKind": ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"],
    "StatusCode": ["UNSET", "OK", "ERROR"],
}
# OTLP writes these in hexadecimal digits, where protobuf's JSON has base64; bytes of each.
IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def add_field(message, text):
    name, number, kind = text.split(":")
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind[0] == "*" else field.LABEL_OPTIONAL
    if kind[0] == "|":
        field.oneof_index = 0
    kind = kind.lstrip("*|")
    if kind in MESSAGES:
        field.type, field.type_name = field.TYPE_MESSAGE, ".otlp." + kind
    elif kind in ENUMS:
        field.type, field.type_name = field.TYPE_ENUM, ".otlp." + kind
    else:
        field.type = getattr(field, "TYPE_" + kind.upper())


def request_class():
    file = descriptor_pb2.FileDescriptorProto(name="otlp.proto", package="otlp", syntax="proto3")
    for name, values in ENUMS.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=name + "_" + value, number=number)
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        if "|" in fields:
            message.oneof_decl.add(name="value")
        for field in fields.split():
            add_field(message, field)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = pool.FindMessageTypeByName("otlp.ExportTraceServiceRequest")
    return message_factory.MessageFactory(pool).GetPrototype(found)


def once(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is there twice")
    for key, size in IDS.items():
        if key in members:
            id_bytes = bytes.fromhex(members[key])
            if len(id_bytes) != size or not any(id_bytes):
                raise ValueError(key + " is no id")
            members[key] = base64.b64encode(id_bytes).decode()
    return members


def check_span(span):
    """What the protocol asks of a span and its types do not show."""
    if not span.trace_id or not span.span_id or not span.name:
        raise ValueError("a span without ids or a name")
    if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
        raise ValueError("a span ends before it begins")
    if any(not link.trace_id or not link.span_id for link in span.links):
        raise ValueError("a link without ids")
    keys = [attribute.key for attribute in span.attributes]
    if len(set(keys)) != len(keys) or "" in keys:
        raise ValueError("a key of an attribute is empty, or there twice")


def main():
    request = request_class()()
    text = json.dumps(json.load(sys.stdin, object_pairs_hook=once))
    json_format.Parse(text, request)
    spans = [s for r in request.resource_spans for c in r.scope_spans for s in c.spans]
    for span in spans:
        check_span(span)
    print(len(spans))


try:
    main()
except (ValueError, json_format.ParseError) as error:
    sys.exit("otlp_check: %s" % error)
