"""A complete small store for Tradetill that uses only Python's standard library.

TILL_URL=http://localhost:4300 TILL_KEY=tt_test_... TILL_SECRET=whsec_... PORT=8080 python3 shop.py

docs/store-guide.md explains each step. Python 3.9 or newer.
"""
import base64
import hashlib
import hmac
import json
import os
import sqlite3
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TILL_URL = os.environ.get("TILL_URL", "")
TILL_KEY = os.environ.get("TILL_KEY", "")
SECRET = base64.b64decode(os.environ.get("TILL_SECRET", "").removeprefix("whsec_"))
PORT = int(os.environ.get("PORT", "8080"))
DATA = os.environ.get("DATA", "shop.sqlite")
RECONCILE_S = int(os.environ.get("RECONCILE_MS", "60000")) / 1000
SHOP_URL = f"http://localhost:{PORT}"
MOST_BODY_BYTES = 256 * 1024


def database():
    """Opens one connection for each call. SQLite lets one connection write at a time, and the others wait."""
    return sqlite3.connect(DATA, timeout=15, isolation_level=None)


def prepare():
    database().executescript(
        """
        pragma journal_mode = wal;
        create table if not exists purchase (id text primary key, customer text not null);
        create table if not exists credit (deposit text primary key, sequence integer not null, customer text not null,
          currency text not null, amount integer not null, held integer not null, reversed integer not null,
          charged integer not null);
        create table if not exists position (one integer primary key, sequence integer not null);
        insert into position values (1, 0) on conflict do nothing;
        """
    )


def till(path, body=None, tries=3):
    """Retries a call that got no answer, 429 or 5xx. Reads change nothing; the order id makes the POST safe."""
    request = urllib.request.Request(
        TILL_URL + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"authorization": f"Bearer {TILL_KEY}", "content-type": "application/json"},
    )
    pause = 1.0
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        if tries == 1 or (refused.code != 429 and refused.code < 500):
            raise RuntimeError(f"the till refused {path}: {refused.read().decode()}") from None
        pause = float(refused.headers.get("retry-after") or 1)
    except (OSError, ValueError):
        if tries == 1:
            raise
    time.sleep(min(pause, 30))
    return till(path, body, tries - 1)


def open_deposit(customer):
    """Stores the order first. If the answer is lost, a repeated call with the same id makes no second deposit."""
    order = f"order-{uuid.uuid4()}"
    database().execute("insert into purchase values (?, ?)", (order, customer))
    return till(
        "/v1/deposits",
        {
            "externalId": order,
            "currency": "USD",
            "backToStoreUrl": f"{SHOP_URL}/?order={{EXTERNAL_ID}}",
            "customerReference": customer,
            "customerLabel": customer,
        },
    )


def take(event):
    """An event contains its entire deposit, so the event with the largest sequence replaces the others. Repeated and
    reordered events are therefore harmless. Types that are added later may concern something other than deposits."""
    deposit = event["data"]
    if not event["type"].startswith("deposit.") or deposit["amount"] is None:
        return
    database().execute(
        """insert into credit values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (deposit) do update
           set sequence = excluded.sequence, amount = excluded.amount, held = excluded.held,
             reversed = excluded.reversed, charged = excluded.charged
           where excluded.sequence > credit.sequence""",
        (
            deposit["id"],
            event["sequence"],
            deposit["customerReference"] or "nobody",
            deposit["currency"],
            deposit["amount"],
            deposit["heldAmount"],
            deposit["reversedAmount"],
            deposit["chargedAmount"] or 0,
        ),
    )


def spendable(customer):
    """Below zero, close the account until the debt is settled. The till owes you a different sum: amount - charged."""
    (total,) = database().execute(
        "select sum(amount - reversed - held) from credit where customer = ? and currency = 'USD'", (customer,)
    ).fetchone()
    return total or 0


def reconcile():
    """The event log is ordered and has no gaps, so nothing is missing up to the last sequence that was read."""
    while True:
        (sequence,) = database().execute("select sequence from position").fetchone()
        page = till(f"/v1/events?after={sequence}")
        for event in page["events"]:
            take(event)
        database().execute("update position set sequence = ?", (page["next"],))
        if not page["hasMore"]:
            return


def keep_reconciling():
    while True:
        try:
            reconcile()
        except Exception as error:
            print(f"log not read, will retry: {error}", flush=True)
        time.sleep(RECONCILE_S)


def is_genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 over id.timestamp.body, with the body as received. There are several
    signatures while a secret is being replaced."""
    if not SECRET:
        return False  # Without this, a store without a secret would accept every signature made with an empty one.
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode("utf-8", "replace").split(b" ")
    return any([hmac.compare_digest(wanted, signature) for signature in given])


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def serve(self):
        try:
            length = min(int(self.headers.get("content-length") or 0), MOST_BODY_BYTES)
            self.route(self.rfile.read(length))
        except Exception as error:
            print(f"a call failed: {error!r}", flush=True)
            self.answer(500)

    def route(self, body):
        url = urllib.parse.urlsplit(self.path)
        # In your store the session names the customer; here the address does.
        customer = urllib.parse.parse_qs(url.query).get("customer", ["guest"])[0]
        if url.path == "/webhooks/tradetill":
            # Checks the signature over the body as received, before it is parsed.
            if not is_genuine(self.headers, body):
                return self.answer(400)
            event = json.loads(body)
            # The answer to a test of this address must repeat its challenge. In live mode that enables the endpoint.
            if event["type"] == "webhook.test":
                return self.answer(200, event["data"]["challenge"])
            take(event)
            # Answer only after the commit, because after 2xx the till does not send this webhook again.
            return self.answer(204)
        if url.path == "/buy":
            return self.answer(303, location=open_deposit(customer)["url"])
        return self.answer(200, str(spendable(customer)))

    def answer(self, status, text="", location=None):
        self.send_response(status)
        if location is not None:
            self.send_header("location", location)
        if status != 204:
            self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # Up to 80 webhooks arrive at a time.
    request_queue_size = 128


if __name__ == "__main__":
    prepare()
    server = Server(("127.0.0.1", PORT), Shop)
    threading.Thread(target=keep_reconciling, daemon=True).start()
    print(f"shop at {SHOP_URL}", flush=True)
    server.serve_forever()
