#!/usr/bin/env python3
"""notice.py [URL]: how long a run takes from the notice that its machine is taken away until nothing can be lost. The run trains
all weights of a model of 43 million parameters: its checkpoint, with the optimiser's state, is about 510 MB. The mirror may use
100 MB a second. The notice comes in the middle of a step, with nothing saved before. A machine is taken away two minutes later.

    bench/notice.py                             # against the strict server of test/net, which also tells the order of uploads
    test/soak/ceph.sh bench/notice.py           # against a RADOS gateway"""
import importlib.util, json, os, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('net_common', HERE + '/../test/net/_common.py')
net = importlib.util.module_from_spec(spec)
spec.loader.exec_module(net)
MB_PER_SECOND = 100
LAYERS = 15                     # of the width of qwen3-30m, which has 12


class Run:
    """A training run whose lines are kept with the time they came."""

    def __init__(self, d, env, metadata):
        with open(net.ROOT + '/models/init/qwen3-30m.json') as f:
            config = json.load(f)
        with open(d + '/config.json', 'w') as f:
            json.dump({**config, 'num_hidden_layers': LAYERS}, f)
        self.folder, self.lines = d + '/run', []
        self.p = subprocess.Popen(
            [net.PROGRAM, 'train', '--stage', 'sft', '--init', d + '/config.json', '--tokenizer', net.ROOT + '/models/init/tokenizer', '--full',
             '--stream', '1', '--prompt-style', 'compact', '--batch', '1', '--max-length', '256', '--micro-tokens', '256', '--steps', '100000',
             '--save-every', '0', '--out', self.folder, '--bucket', 's3://bench/run', '--sync-mb', str(MB_PER_SECOND), '--metadata', metadata, '--spot', 'on'],
            env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.append((time.time(), line))

    def wait(self, what, seconds=300):
        """When `what` (a function) first gave something, and what it gave."""
        end = time.time() + seconds
        while not (got := what()):
            assert time.time() < end, ''.join(line for _, line in self.lines)[-2000:]
            time.sleep(0.005)
        return time.time(), got

    def steps(self):
        path = self.folder + '/metrics.jsonl'
        return len(open(path).readlines()) if os.path.exists(path) else 0

    def saved(self):
        """The checkpoint that is whole on this machine."""
        folder = self.folder + '/checkpoints'
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return [name for name in names if name[0] != '.' and os.path.exists(f'{folder}/{name}/MANIFEST')]


def uploads(server):
    """What was put, in the order of the first request for each."""
    seen = []
    for line in server.get('/_log'):
        verb, path = line.split(' ', 1)
        key = path.partition('?')[0].removeprefix('/bench/run/')
        if verb in ('PUT', 'POST') and key not in seen:
            seen.append(key)
    return seen


def main(d):
    server = net.Server(d + '/server')
    env = server.env(**({'AWS_ENDPOINT_URL_S3': sys.argv[1], 'AWS_REGION': 'us-east-1'} if sys.argv[1:] else {}))
    try:
        rc, out = net.run(env, 'bucket', 'create', 's3://bench')
        assert rc == 0, out
        run = Run(d, env, server.url)
        run.wait(lambda: run.steps() >= 2)
        before = len(uploads(server))
        start = time.time()
        server.post('/_spot', {'action': {'action': 'terminate', 'time': '2026-01-01T00:00:00Z'}})
        heard = run.wait(lambda: next((at for at, line in run.lines if 'taken away' in line), None))[1]
        local, names = run.wait(run.saved)
        code = run.p.wait(300)
        end = time.time()
        size = sum(os.path.getsize(f'{at}/{f}') for at, _, files in os.walk(f'{run.folder}/checkpoints') for f in files)
        print(f'checkpoint {names[0]} of {size / 1e6:.0f} MB, {MB_PER_SECOND} MB/s\n'
              f'notice heard after        {heard - start:6.2f} s (the service is asked every 5 s)\n'
              f'saved on this machine     {local - start:6.2f} s\n'
              f'all in the bucket, ended  {end - start:6.2f} s of 120, exit code {code}')
        files = {'objects/' + digest: path for path, digest in net.digests(run.folder).items()}
        for i, key in enumerate([] if sys.argv[1:] else uploads(server)[before:]):
            print(f'upload {i + 1}: {files.get(key, key)}')
        rc, out = net.run(env, 'sync', d + '/back', '--pull', '--bucket', 's3://bench/run')
        names = lambda path: path.startswith('checkpoints/')
        assert rc == 0 and net.digests(d + '/back', names) == net.digests(run.folder, names) != {}, out
        print('the state in the bucket alone gives the same checkpoint')
        return code != 3 or end - start > 120
    finally:
        server.stop()


with tempfile.TemporaryDirectory() as folder:
    sys.exit(main(folder))
