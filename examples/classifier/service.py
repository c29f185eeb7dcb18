"""A small HTTP service in front of the library: POST 784 bytes of a picture to /classify, get its class as JSON.

    PYTHONPATH=out python3 examples/classifier/service.py clothes.safetensors 8080
    curl --data-binary @picture http://127.0.0.1:8080/classify
"""
import contextlib
import json
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import clothes
import numpy as np

NAMES = ["T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]
idle = queue.SimpleQueue()


@contextlib.contextmanager
def context():
    """A context serves one thread at a time: requests take turns with those that there are, and make another when none is idle."""
    try:
        c = idle.get_nowait()
    except queue.Empty:
        c = clothes.Context(num_threads=1)
        c.load(sys.argv[1])
    try:
        yield c
    finally:
        idle.put(c)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if self.path != "/classify" or length != 784:
            self.answer(400, {"error": "POST 784 bytes to /classify"})
            return
        picture = np.frombuffer(self.rfile.read(length), np.uint8).astype(np.float32) / 255
        with context() as c:
            label, probability = c.classify(picture[None])
        self.answer(200, {"label": int(label[0]), "name": NAMES[label[0]], "probability": round(float(probability[0]), 4)})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    print(f"http://127.0.0.1:{server.server_port}/classify", flush=True)
    server.serve_forever()
