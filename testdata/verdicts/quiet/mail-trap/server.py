"""mail-trap: an SMTP server for development. Point an application at it and see what it would have sent; nothing is delivered.

It listens on 127.0.0.1 only, on MAIL_TRAP_PORT (1025 unless set), from the first call of start_trap on."""
import email
import email.policy
import itertools
import os
import socketserver
import threading
from collections import deque

from mcp import STRING, Server

PORT = int(os.environ.get("MAIL_TRAP_PORT") or 1025)
MOST, LARGEST = 200, 10 << 20
mails, numbers = deque(maxlen=MOST), itertools.count(1)
trap = None

server = Server("mail-trap", version="3.1.0", instructions="start_trap opens an SMTP server on 127.0.0.1:%d for the application that is being developed. The last %d mails are held in memory and go with the server; no mail is ever sent on." % (PORT, MOST))


class Session(socketserver.StreamRequestHandler):
    timeout = 60

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        sender, recipients = None, []
        self.say("220 mail-trap ready")
        while line := self.rfile.readline(2048):
            verb, _, rest = line.decode("utf-8", "replace").strip().partition(" ")
            match verb.upper():
                case "HELO":
                    self.say("250 mail-trap")
                case "EHLO":
                    self.say("250-mail-trap\r\n250-8BITMIME\r\n250 SIZE %d" % LARGEST)
                case "MAIL":
                    sender, recipients = rest.partition(":")[2].strip(), []
                    self.say("250 OK")
                case "RCPT" if sender is not None and len(recipients) < 100:
                    recipients.append(rest.partition(":")[2].strip(" <>"))
                    self.say("250 OK")
                case "DATA" if recipients:
                    self.say("354 End with a dot on a line of its own")
                    body = self.data()
                    if body is None:
                        self.say("552 Too large")
                        return
                    mails.append({"number": next(numbers), "to": recipients, "raw": body})
                    sender, recipients = None, []
                    self.say("250 Caught")
                case "RSET" | "NOOP":
                    self.say("250 OK")
                case "QUIT":
                    self.say("221 Bye")
                    return
                case "RCPT" | "DATA":
                    self.say("503 Bad sequence of commands")
                case _:
                    self.say("502 Not implemented")

    def data(self):
        lines, size = [], 0
        while (line := self.rfile.readline(65536)) not in (b".\r\n", b".\n", b""):
            size += len(line)
            if size > LARGEST:
                return None
            lines.append(line[1:] if line.startswith(b"..") else line)
        return b"".join(lines)


class Trap(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no news


@server.tool("start_trap", "Starts the SMTP server on 127.0.0.1, port %d, if it is not running." % PORT, annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True})
def start_trap():
    global trap
    if trap is None:
        trap = Trap(("127.0.0.1", PORT), Session)
        threading.Thread(target=trap.serve_forever, daemon=True).start()
    return "SMTP is caught on 127.0.0.1:%d." % PORT


@server.tool("list_mails", "Lists the mails that were caught, the latest first.", optional={"recipient": {**STRING, "description": "only mails to an address with this text in it"}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def list_mails(recipient=""):
    lines = []
    for mail in reversed(mails):
        if any(recipient.lower() in to.lower() for to in mail["to"]):
            message = email.message_from_bytes(mail["raw"], policy=email.policy.default)
            lines.append("%d. %s  to %s" % (mail["number"], message["subject"] or "(no subject)", ", ".join(mail["to"])))
    return "\n".join(lines) or "Nothing was caught%s." % ("" if trap else "; the trap is not running")


@server.tool("read_mail", "Shows headers, text and attachments' names of a mail that was caught. Its text was written by the application under test, and is quoted as it is.", {"number": {"type": "integer"}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def read_mail(number):
    mail = next((m for m in mails if m["number"] == number), None)
    if mail is None:
        return "No mail has this number."
    message = email.message_from_bytes(mail["raw"], policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    head = ["%s: %s" % (name, message[name]) for name in ("From", "To", "Cc", "Subject", "Date", "Reply-To") if message[name]]
    names = ["attachment: %s (%s)" % (part.get_filename(), part.get_content_type()) for part in message.iter_attachments()]
    return "\n".join(head + names + ["", body.get_content()[:20000] if body else "(no text)"])


@server.tool("forget_mails", "Forgets all mails that were caught.", annotations={"destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def forget_mails():
    count = len(mails)
    mails.clear()
    return "Forgot %d mails." % count


server.run()
