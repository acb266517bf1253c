#!/usr/bin/env python3
"""ranks.py [SCALE]: how much faster two ranks are than one, each with one thread and one judging process: supervised steps, sampling
and judging. A job is run with much and with little to do; the difference is the work, without what starting takes. The share of
twice the speed is what counts; processor times beside it say whether ranks do more work than one process, on a busy machine, too."""
import importlib.util, json, os, resource, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('par_common', HERE + '/../test/par/_common.py')
par = importlib.util.module_from_spec(spec)
spec.loader.exec_module(par)
SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
BASE = par.ROOT + '/models/base'
TASKS = par.ROOT + '/tasks/plain/test_level1.jsonl'


def cost(ranks, words, folder):
    """Seconds by the clock and of processor time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    p = subprocess.run(par.words(ranks, *words), cwd=folder, env=par.ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert p.returncode in (0, 1), p.stderr[-2000:]          # 1: a candidate that is not correct
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sft(folder, name, much):
    return ['train', '--model', BASE, '--data', folder + '/data/sft_train.jsonl', '--out', f'{folder}/{name}', '--batch', '8', '--max-length', '512',
            '--micro-tokens', '512', '--steps', str(int(30 * SCALE) if much else 2), '--threads', '1']


def sampling(folder, name, much):
    """So many samples that the last ones, which every process draws in small batches, are few."""
    return ['eval', '--model', BASE, '--tasks', TASKS, '--prompt-style', 'compact', '--limit', '16', '--n', str(int(64 * SCALE) if much else 1),
            '--max-new-tokens', '300', '--threads', '1', '--workers', '1', '--stage-limit', 'ast', '--out', f'{folder}/{name}.json']


def judging(folder, name, much):
    path = f'{folder}/{name}.jsonl'
    pairs = [json.loads(line) for line in open(HERE + '/verify_pairs.jsonl')]
    with open(path, 'w') as f:
        for turn in range(int(6 * SCALE) if much else 1):
            for i, pair in enumerate(pairs):
                f.write(json.dumps({'id': f'{turn}-{i}', 'task': pair['task'], 'candidate': pair['solution'] + f'\n# {turn}\n'}) + '\n')
    return ['verify', '--jsonl', path, '--json', '--quiet', '--workers', '1']


def work(job, ranks, folder):
    """Seconds by the clock and of processor time that grow with the work."""
    much, little = (cost(ranks, job(folder, f'{job.__name__}-{ranks}-{which}', which), folder) for which in (True, False))
    return [a - b for a, b in zip(much, little)]


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([par.PROGRAM, 'prepare', '--count', '200', '--level', '1', '--style', 'plain', '--no-verify', '--prompt-style', 'compact', '--out',
                    folder + '/data', '--quiet'], check=True)
    for job in (sft, sampling, judging):
        (clock1, cpu1), (clock2, cpu2) = work(job, 1, folder), work(job, 2, folder)
        print(f'{job.__name__:9} 1 rank {clock1:6.2f} s, 2 ranks {clock2:6.2f} s: {100 * clock1 / (2 * clock2):5.1f} % of twice the speed; '
              f'processor time {cpu1:6.2f} s and {cpu2:6.2f} s: {100 * cpu1 / cpu2:5.1f} %', flush=True)
