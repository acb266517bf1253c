"""What the tests of the network layer share: the server of s3_server.py, the program, small runs."""
import hashlib, json, os, subprocess, sys, tempfile, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get('TRITONRL', os.path.join(ROOT, 'tritonrl'))


class Server:
    def __init__(self, folder, *options):
        self.folder, self.options, self.port = folder, options, 0
        self.start()

    def start(self):
        port = ['--port', str(self.port)] if self.port else []
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 's3_server.py'), self.folder, *port, *self.options], stdout=subprocess.PIPE, text=True)
        self.port = int(self.p.stdout.readline())
        self.url = f'http://127.0.0.1:{self.port}'

    def stop(self):
        self.p.kill()
        self.p.wait()

    def post(self, path, value):
        urllib.request.urlopen(urllib.request.Request(self.url + path, json.dumps(value).encode(), method='POST'), timeout=20).read()

    def get(self, path):
        return json.loads(urllib.request.urlopen(self.url + path, timeout=20).read())

    def faults(self, *rules):
        self.post('/_fault', list(rules))

    def env(self, **more):
        keep = {k: v for k, v in os.environ.items() if not k.startswith('AWS_')}
        return {**keep, 'AWS_ACCESS_KEY_ID': 'AKIDTEST', 'AWS_SECRET_ACCESS_KEY': 'secret/of+the=test', 'AWS_REGION': 'eu-test-1',
                'AWS_ENDPOINT_URL_S3': self.url, 'AWS_EC2_METADATA_SERVICE_ENDPOINT': 'http://127.0.0.1:1', **more}


def run(env, *words, timeout=300):
    p = subprocess.run([PROGRAM, *words], env=env, capture_output=True, text=True, timeout=timeout)
    return p.returncode, p.stdout + p.stderr


def digests(folder, names=None):
    """path -> SHA-256 of the files below a folder."""
    out = {}
    for at, _, files in os.walk(folder):
        for f in files:
            path = os.path.join(at, f)
            rel = os.path.relpath(path, folder)
            if names is None or names(rel):
                out[rel] = hashlib.sha256(open(path, 'rb').read()).hexdigest()
    return out


class Tests:
    """Runs functions named test_*, each with a folder of its own; prints what `make test` counts."""

    def __init__(self, scope):
        self.tests = [(n[5:], f) for n, f in scope.items() if n.startswith('test_')]

    def main(self):
        failed = 0
        if sys.argv[1:]:
            self.tests = [t for t in self.tests if t[0] in sys.argv[1:]]
        for name, fn in self.tests:
            with tempfile.TemporaryDirectory() as d:
                start = time.time()
                try:
                    fn(d)
                    print(f'ok {name} {time.time() - start:.1f}s', flush=True)
                except Exception as e:
                    failed += 1
                    print(f'FAILED {name}: {type(e).__name__}: {e}', flush=True)
        print(f'{len(self.tests) - failed} passed, {failed} failed')
        return failed != 0
