#!/usr/bin/env python3
"""ceph.py URL: what a run needs of S3, from a RADOS gateway: buckets made once, states there and back bit for bit, large
files in parts, a second writer, old states removed, a wrong key refused."""
import importlib.util, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('net_common', os.path.join(HERE, '../net/_common.py'))
net = importlib.util.module_from_spec(spec)
spec.loader.exec_module(net)

ENV = {**{k: v for k, v in os.environ.items() if not k.startswith('AWS_')}, 'AWS_ACCESS_KEY_ID': 'AKIDTEST',
       'AWS_SECRET_ACCESS_KEY': 'secret/of+the=test', 'AWS_REGION': 'us-east-1', 'AWS_ENDPOINT_URL_S3': sys.argv[1],
       'AWS_EC2_METADATA_SERVICE_ENDPOINT': 'http://127.0.0.1:1'}
checks = 0


def expect(code, *words, env=ENV):
    global checks
    rc, out = net.run(env, *words)
    assert rc == code, f'{words} gave {rc}: {out}'
    checks += 1
    return out


def make(folder, seed, big):
    os.makedirs(folder + '/data/processed', exist_ok=True)
    for name, n in (('config.yaml', 300), ('metrics.jsonl', 5000), ('data/processed/a b+ä.jsonl', 0), ('data/processed/big.bin', big)):
        with open(f'{folder}/{name}', 'wb') as f:
            f.write(bytes((i * 7 + seed) % 251 for i in range(min(n, 4096))) * (max(n, 1) // 4096 + 1) if n else b'')


def main(d):
    # The gateway has no encryption of its own: that is said, and the rest is done.
    out = expect(0, 'bucket', 'create', 's3://runs')
    assert out.startswith('bucket: created') and 'versioning: set' in out and 'lifecycle: set' in out, out
    out = expect(0, 'bucket', 'create', 's3://runs')
    assert out.startswith('bucket: exists already') and out.count('already set') >= 2, out
    for seed, big in ((1, 100), (2, 40 << 20)):
        make(d + '/run', seed, big)
        expect(0, 'sync', d + '/run', '--bucket', 's3://runs/a')
        expect(0, 'sync', f'{d}/back{seed}', '--pull', '--bucket', 's3://runs/a')
        assert net.digests(d + '/run') == net.digests(f'{d}/back{seed}')
    # A second writer takes over; the state is found by its content.
    assert 'sent 0 files' in expect(0, 'sync', d + '/run', '--bucket', 's3://runs/a')
    for seed in range(3, 9):
        make(d + '/run', seed, 1000)
        expect(0, 'sync', d + '/run', '--bucket', 's3://runs/a', '--sync-keep', '2')
    expect(0, 'sync', d + '/back', '--pull', '--bucket', 's3://runs/a')
    assert net.digests(d + '/run') == net.digests(d + '/back')
    assert 'SignatureDoesNotMatch' in expect(2, 'bucket', 'show', 's3://runs', env={**ENV, 'AWS_SECRET_ACCESS_KEY': 'wrong'})
    print(f'ceph: {checks} calls of the program against a RADOS gateway, states the same there and back')


with tempfile.TemporaryDirectory() as folder:
    main(folder)
