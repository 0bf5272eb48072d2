"""Small tables that stand for the public sets, and a server that hands them out."""

import hashlib
import io
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from skdptext.datasets import fetch_sms_spam

# U+0085 ends a line for str.splitlines, and must not for us.
SMS = "ham\tSee you at 8\nspam\tWIN £900 now!\tcall\nham\tone\x85message\n"
TWEETS = (
    "id,keyword,location,text,target\n"
    '1,fire,"Rome, Italy","Forest fire\nnear, us ",1\n'
    "4,,,What a blaze of a song,0\n"
)
TWEETS_CORE = (
    'id,text,target\n1,"Forest fire\nnear, us ",1\n4,What a blaze of a song,0\n'
)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def zipped(member, content, extra="readme.txt"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(extra, "about")
        archive.writestr(member, content)
    return buffer.getvalue()


SMS_ZIP = zipped("SMSSpamCollection", SMS)


class LocalServer(ThreadingHTTPServer):
    """Gives the answers of `script` in turn, the last one for ever."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = []
        self.hits = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/data.zip"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        status, body, length = server.script[min(server.hits, len(server.script) - 1)]
        server.hits += 1
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def good(body=SMS_ZIP):
    return 200, body, len(body)


def status(code):
    return code, b"no", 2


def truncated(body=SMS_ZIP):
    return 200, body[: len(body) // 2], len(body)


def fetch_small(server, home, **kwargs):
    return fetch_sms_spam(url=server.url, data_home=home, **kwargs)
