#!/usr/bin/env python3
"""s3.py URL: a large file to a bucket and back by `tritonrl sync` and by s5cmd (where it is installed), through the
same server, beside what a plain socket moves on this machine. Three turns each, in turns; the best counts.

    test/soak/ceph.sh bench/s3.py        # with a RADOS gateway for the server; S5CMD= names the peer"""
import os, resource, shutil, socket, subprocess, sys, tempfile, threading, time

PROGRAM = os.environ.get('TRITONRL', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tritonrl'))
S5CMD = os.environ.get('S5CMD', shutil.which('s5cmd'))
MB = int(os.environ.get('S3_MB', '256'))
ENV = {**os.environ, 'AWS_ACCESS_KEY_ID': 'AKIDTEST', 'AWS_SECRET_ACCESS_KEY': 'secret/of+the=test', 'AWS_REGION': 'us-east-1',
       'AWS_ENDPOINT_URL_S3': sys.argv[1], 'AWS_EC2_METADATA_SERVICE_ENDPOINT': 'http://127.0.0.1:1'}


def timed(*words):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    p = subprocess.run(words, env=ENV, capture_output=True, text=True)
    assert p.returncode == 0, f'{words}: {p.stdout}{p.stderr}'
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loopback(n):
    """Seconds for n bytes through a socket to oneself."""
    server = socket.create_server(('127.0.0.1', 0))
    piece = bytes(1 << 20)

    def send():
        c = socket.create_connection(server.getsockname())
        for _ in range(n >> 20):
            c.sendall(piece)
        c.close()

    start = time.time()
    t = threading.Thread(target=send)
    t.start()
    c, room = server.accept()[0], bytearray(1 << 20)
    while c.recv_into(room):
        pass
    t.join()
    return time.time() - start


def main(d):
    best = {}
    timed(PROGRAM, 'bucket', 'create', 's3://bench')
    for turn in range(3):
        run, back, file = f'{d}/run', f'{d}/back', f'{d}/run/data/processed/big.bin'
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, 'wb') as f:
            f.write(os.urandom(1 << 20) * MB)
        jobs = {'tritonrl up': [PROGRAM, 'sync', run, '--bucket', f's3://bench/t{turn}'],
                'tritonrl down': [PROGRAM, 'sync', back, '--pull', '--bucket', f's3://bench/t{turn}']}
        if S5CMD:
            peer = [S5CMD, '--endpoint-url', sys.argv[1], 'cp', '--concurrency', '4']
            jobs.update({'s5cmd up': [*peer, file, f's3://bench/s5/{turn}'], 's5cmd down': [*peer, f's3://bench/s5/{turn}', d + '/peer.bin']})
        got = {name: timed(*words) for name, words in jobs.items()}
        got['loopback'] = (loopback(MB << 20), 0.0)
        best = {k: min(best.get(k, v), v) for k, v in got.items()}
        shutil.rmtree(back)
        shutil.rmtree(run)
    for name, (wall, cpu) in best.items():
        print(f'{name:14} {MB / wall:8.0f} MB/s, {cpu:6.2f} s of processor time for {MB} MB')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
