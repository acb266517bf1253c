"""What tests of several ranks share: starting them, a small run, and what must be the same of two runs."""
import atexit, hashlib, importlib.util, json, os, re, shutil, sqlite3, subprocess, sys, tempfile, traceback

spec = importlib.util.spec_from_file_location('net_common', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../net/_common.py'))
net = importlib.util.module_from_spec(spec)     # the servers of the network tests
spec.loader.exec_module(net)

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..'))


def kept(path):
    """A copy: a build beside the tests puts another program in the place of this one, and for a moment none."""
    folder = tempfile.mkdtemp(prefix='par-program-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return shutil.copy2(path, folder)


PROGRAM = kept(os.environ.get('TRITONRL', os.path.join(ROOT, 'tritonrl')))
# As root and with more ranks than cores; copying between processes may be forbidden in a container.
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_rmaps_base_oversubscribe='1',
           OMPI_MCA_btl_vader_single_copy_mechanism='none', OMPI_MCA_hwloc_base_binding_policy='none')

# Values of a step that depend on the machine's speed.
CLOCK = {'seconds', *re.findall(r'GAUGE\((\w+), 1\)', open(ROOT + '/src/rl/gauge.def').read())}
# The same in the report's page, and what the mirror said of itself.
SYNC = r'\{"step":\d+,"stage":"sync"[^}]*\}'
TIMES = re.compile((r',?"(%s)":[-+.e\d]+|,%s|%s,?' % ('|'.join(sorted(CLOCK)), SYNC, SYNC)).encode())

CONFIG = """model: {root}/models/base
prompt_style: compact
weights: fast
save_every: 1
workers: 1
threads: 1
micro_tokens: 640
prepare: {{source: builtin, style: plain, count: 30, level: [1, 1, 2], rl_count: 8, validation: 0.1}}
sft: {{batch: 4, steps: 4, max_length: 640, lr: 1e-4, lora_dropout: 0.1}}
rl: {{method: reinforce, n: 3, temperature: 1.1, steps: 3, tasks_per_step: 2, max_new_tokens: 200, max_length: 640, lr: 1e-4, inner: 2}}
eval: {{tasks: {root}/tasks/plain/test_level1.jsonl, limit: 3, n: 2, max_new_tokens: 200}}
report: {{title: ranks}}
"""


def words(ranks, *args):
    return ([] if ranks == 1 else ['mpirun', '-n', str(ranks)]) + [PROGRAM, *args]


def start(folder, ranks, *args):
    """In a folder of its own, so that paths in results agree."""
    os.makedirs(folder, exist_ok=True)
    return subprocess.Popen(words(ranks, *args), cwd=folder, env=ENV, stdin=subprocess.DEVNULL, stdout=open(folder + '/out.txt', 'a'),
                            stderr=subprocess.STDOUT)


def run(folder, ranks, *args, expect=0):
    rc = start(folder, ranks, *args).wait()
    with open(folder + '/out.txt', errors='replace') as f:
        out = f.read()
    assert rc == expect, f'{ranks} ranks, {args}: {rc}\n{out[-3000:]}'
    return out


def ranks_of(p):
    """Process ids of the ranks below mpirun, by rank."""
    found = {}
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat') as f:
                parent = int(f.read().rsplit(')', 1)[1].split()[1])
            if parent == p.pid:
                with open(f'/proc/{pid}/environ', 'rb') as f:
                    env = dict(x.split(b'=', 1) for x in f.read().split(b'\0') if b'=' in x)
                if b'OMPI_COMM_WORLD_RANK' in env:
                    found[int(env[b'OMPI_COMM_WORLD_RANK'])] = int(pid)
        except (OSError, ValueError, IndexError):
            continue
    return found


def digest(run_folder):
    """Every file and row that must be the same. The cache of verdicts is the first rank's own, times are the clock's (also
    in training.log), what reached a bucket is the network's."""
    out = []
    for base, _, names in sorted(os.walk(run_folder)):
        for name in sorted(names):
            path = os.path.join(base, name)
            if name not in ('run.db', 'run.db-wal', 'run.db-shm', 'metrics.jsonl', 'lock', 'spent.json', 'training.log') and '/logs' not in path:
                with open(path, 'rb') as f:
                    data = TIMES.sub(b'', f.read()) if name == 'report.html' else f.read()
                out.append(os.path.relpath(path, run_folder) + ' ' + hashlib.sha256(data).hexdigest())
    db = sqlite3.connect(run_folder + '/run.db')
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        if table != 'cache':
            out += [f'{table} {row}' for row in sorted(map(repr, db.execute('SELECT * FROM ' + table)))]
    for line in open(run_folder + '/metrics.jsonl'):
        row = json.loads(line)
        if row['stage'] == 'sync':
            continue
        out.append(f'metrics { {k: v for k, v in row.items() if k not in CLOCK} }')
    return out


def same(a, b):
    x, y = digest(a), digest(b)
    different = [(u[:300], v[:300]) for u, v in zip(x, y) if u != v]
    assert x == y, f'{len(x)} and {len(y)} entries; the first that differ: {different[:3]}'


def tests(found):
    """Runs test_* functions, each in a folder of its own that goes away."""
    passed = failed = 0
    for name, test in found:
        folder = tempfile.mkdtemp(prefix='par-')
        try:
            test(folder)
            passed += 1
        except BaseException:
            failed += 1
            print(f'FAILED {name}')
            traceback.print_exc(file=sys.stdout)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f'{passed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0
