#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP/HTTP on a free port of 127.0.0.1, until its stdin ends:

  otlp_peer.py DIR CERT ANSWER...

CERT is a PEM file with certificate and key, or "-" for plain HTTP. The nth request gets the nth
ANSWER, "STATUS RETRY-AFTER BODY" with "-" for no Retry-After; all after that the last one. Prints
the port, and keeps each request as DIR/N.head and DIR/N.body.
"""

import http.server
import ssl
import sys
import threading

directory, cert, answers = sys.argv[1], sys.argv[2], sys.argv[3:]


class Handler(http.server.BaseHTTPRequestHandler):
    asked = 0

    def do_POST(self):
        Handler.asked += 1
        name = "%s/%d" % (directory, Handler.asked)
        with open(name + ".body", "wb") as file:
            file.write(self.rfile.read(int(self.headers["Content-Length"])))
        with open(name + ".head", "w", encoding="utf-8") as file:
            file.write(self.requestline + "\n" + str(self.headers))
        answer = answers[min(Handler.asked, len(answers)) - 1]
        status, retry, body = answer.split(" ", 2)
        self.send_response(int(status))
        if retry != "-":
            self.send_header("Retry-After", retry)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
if cert != "-":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert)
    server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
