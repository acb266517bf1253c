#!/usr/bin/env python3
"""s3.py URL: a large file to a bucket and back by `tritonrl sync` and by s5cmd (where it is installed), through the
same server, beside what a plain socket moves on this machine. The two clients take turns, and who is first changes each
time; a download counts when it is on disk, which s5cmd leaves to `sync`. The medians count, and of the two clients' times the median of the ratio within a turn: noise of the machine is in both.

    test/soak/ceph.sh bench/s3.py        # with a RADOS gateway for the server; S5CMD= names the peer"""
import os, resource, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

PROGRAM = os.environ.get('TRITONRL', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tritonrl'))
S5CMD = os.environ.get('S5CMD', shutil.which('s5cmd'))
MB = int(os.environ.get('S3_MB', '96'))
TURNS = int(os.environ.get('S3_TURNS', '7'))
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


def one_turn(d, turn):
    """(seconds, processor time) of each job."""
    run, back, file = f'{d}/run', f'{d}/back', f'{d}/run/data/processed/big.bin'
    os.makedirs(os.path.dirname(file), exist_ok=True)
    with open(file, 'wb') as f:
        f.write(os.urandom(1 << 20) * MB)
    up = {'tritonrl up': [PROGRAM, 'sync', run, '--bucket', f's3://bench/t{turn}']}
    down = {'tritonrl down': [PROGRAM, 'sync', back, '--pull', '--bucket', f's3://bench/t{turn}']}
    if S5CMD:
        peer = [S5CMD, '--endpoint-url', sys.argv[1], 'cp', '--concurrency', '4']
        up['s5cmd up'] = [*peer, file, f's3://bench/s5/{turn}']
        down['s5cmd down'] = ['sh', '-c', '"$@" && sync "$0"', d + '/peer.bin', *peer, f's3://bench/s5/{turn}', d + '/peer.bin']
    got = {}
    for jobs in (up, down):
        for name in list(jobs)[::1 if turn % 2 else -1]:
            got[name] = timed(*jobs[name])
    got['loopback'] = (loopback(MB << 20), 0.0)
    shutil.rmtree(back)
    shutil.rmtree(run)
    return got


def main(d):
    timed(PROGRAM, 'bucket', 'create', 's3://bench')
    turns = [one_turn(d, turn) for turn in range(TURNS)]
    for name in sorted(turns[0]):
        wall, cpu = (statistics.median(t[name][i] for t in turns) for i in (0, 1))
        print(f'{name:14} {MB / wall:8.0f} MB/s, {cpu:6.2f} s of processor time for {MB} MB')
    for way in ('up', 'down') if S5CMD else ():
        ratio = [statistics.median(t['s5cmd ' + way][i] / t['tritonrl ' + way][i] for t in turns) for i in (0, 1)]
        print(f'{way}: {ratio[0]:.2f} times the speed of s5cmd, processor time {1 / ratio[1]:.2f} times its own (medians of {TURNS} turns)')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
