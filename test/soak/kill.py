#!/usr/bin/env python3
"""kill.py KILLS: a small but whole run (prepare, sft, rl, eval, report; checkpoints after every step, states in a
bucket every second) is killed at random moments, restarted until it is through, and begun anew until KILLS kills
were made. Rounds take turns: alone; with a bucket; the same on two ranks, where one rank, both or mpirun die.
In rounds with a bucket the folder is lost now and then, too. Held each time: a restart works; no
checkpoint that was there before a kill is missing after it; the end has the bits of a run that was left
alone; no process is left behind. A kill aims at a kind of moment (a stage, a save, a sync) and comes at a random time
within it; what the run was doing is counted."""
import collections, importlib.util, json, os, random, re, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('par_common', os.path.join(HERE, '../par/_common.py'))
par = importlib.util.module_from_spec(spec)
spec.loader.exec_module(par)
net = par.net
RNG = random.Random(int(os.environ.get('SOAK_SEED', '1')))
STAGES = ['prepare', 'sft', 'rl', 'eval']


class Round:
    def __init__(self, folder, config, ranks, server):
        self.folder, self.config, self.ranks, self.server = folder, config, ranks, server
        self.run = folder + '/run'
        self.env = dict(par.ENV, **{k: v for k, v in server.env().items() if k.startswith('AWS_')}) if server else par.ENV
        self.kills, self.losses, self.hung, self.started = collections.Counter(), 0, 0, 0
        os.makedirs(folder, exist_ok=True)

    def start(self):
        self.started = time.time()
        words = ['run', self.config, '--out', 'run']
        if self.server:
            words += ['--bucket', 's3://soak/' + os.path.basename(self.folder), '--sync-every', '1', '--spot', 'off']
        return subprocess.Popen(par.words(self.ranks, *words), cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=open(self.folder + '/out.txt', 'w'), stderr=subprocess.STDOUT)

    def checkpoints(self):
        """The newest step of each stage; a final one is behind them all."""
        best = {}
        for name in self.names():
            m = re.fullmatch(r'(sft|rl)(?:-(\d+)|_final)', name)
            if m:
                best[m.group(1)] = max(best.get(m.group(1), -1), int(m.group(2)) if m.group(2) else 1 << 30)
        return best

    def fresh(self, path):
        """This start made it or wrote into it: what an earlier one left behind tells nothing."""
        try:
            return os.stat(path).st_mtime >= self.started
        except OSError:
            return False

    def names(self):
        folder = self.run + '/checkpoints'
        return os.listdir(folder) if os.path.isdir(folder) else []

    def stage(self):
        names = self.names()
        return 'eval' if 'rl_final' in names else 'rl' if 'sft_final' in names else 'sft' if names else 'prepare'

    def doing(self):
        """A save or a sync if there is one under way, else the stage."""
        if any(name.startswith('.tmp') and self.fresh(f'{self.run}/checkpoints/{name}') for name in self.names()):
            return 'save'
        return 'sync' if self.fresh(self.run + '/.mirror') else self.stage()

    def reached(self, aim):
        return self.doing() == aim or (aim in STAGES and STAGES.index(self.stage()) >= STAGES.index(aim))

    def wait(self, p, window):
        """For a moment of a kind drawn at random: the stage it is in, the next, a save or a sync; or for the end of the
        window if none comes."""
        at = STAGES.index(self.stage())
        aim, limit = RNG.choice(STAGES[at:at + 2] + ['save', 'sync' if self.server else 'save']), self.started + 2 * window
        while not self.reached(aim) and p.poll() is None and time.time() < limit:
            time.sleep(0.002)
        time.sleep(RNG.random() * (0.02 if aim in ('save', 'sync', 'eval') else window / 8))

    def victims(self, p):
        """Who dies: the process, or of several ranks one, all, or their launcher."""
        if self.ranks == 1:
            return [p.pid]
        ranks = list(par.ranks_of(p).values())
        return [p.pid] if not ranks else RNG.choice([[RNG.choice(ranks)], ranks, [p.pid]])

    def kill(self, p):
        before, doing, pids = self.checkpoints(), self.doing(), [p.pid, *par.ranks_of(p).values()]
        for pid in self.victims(p):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
        self.end(p, pids)
        self.kills[doing] += 1
        after = self.checkpoints()
        assert all(after.get(k, -1) >= v for k, v in before.items()), f'a checkpoint was lost: {before}, then {after}'
        return True

    def end(self, p, pids):
        """All of them are gone soon. Ranks whose launcher died end by themselves. A launcher whose ranks are all dead and that
        waits on (Open MPI's does, when a rank dies while it starts the others) is none of ours: it is ended, and counted."""
        limit = time.time() + 120
        while any(alive(pid) for pid in pids):
            p.poll()
            if time.time() > limit - 100 and [pid for pid in pids if alive(pid)] == [p.pid]:
                p.kill()
                p.wait()
                self.hung += 1
            assert time.time() < limit, 'processes are left behind'
            time.sleep(0.01)

    def lose_folder(self):
        if self.server and RNG.random() < 0.1:
            shutil.rmtree(self.run, ignore_errors=True)
            self.losses += 1

    def go(self, window, wanted):
        """Until the run is through, or there were enough kills: then it is left alone."""
        while True:
            p = self.start()
            if self.kills.total() < wanted:
                self.wait(p, window)
                if p.poll() is None and self.kill(p):
                    self.lose_folder()
                    continue
            rc = p.wait()
            out = open(self.folder + '/out.txt', errors='replace').read()
            assert rc == 0, f'{self.ranks} ranks ended with {rc}: {out[-2000:]}'
            return


def alive(pid):
    """A process whose first thread is done may have others that are not."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rsplit(')', 1)[1].split()[0] != 'Z' or len(os.listdir(f'/proc/{pid}/task')) > 1
    except OSError:
        return False


def left_behind(config):
    for _ in range(40):
        if subprocess.run(['pgrep', '-f', config], stdout=subprocess.DEVNULL).returncode:
            return False
        time.sleep(0.5)
    return True


def main(wanted):
    work = tempfile.mkdtemp(prefix='kill-')
    server = None
    try:
        config = work + '/config.yaml'
        with open(config, 'w') as f:
            f.write(par.CONFIG.format(root=par.ROOT))
        os.makedirs(work + '/s3')
        server = net.Server(work + '/s3')
        assert net.run(server.env(), 'bucket', 'create', 's3://soak')[0] == 0
        t0 = time.time()
        whole = Round(work + '/whole', config, 1, None)
        whole.go(0, 0)
        seconds = time.time() - t0
        rl = [json.loads(line) for line in open(whole.run + '/metrics.jsonl') if '"rl"' in line]
        assert any(row['grad_norm'] for row in rl), 'rl has nothing to learn from'
        # (ranks, bucket): share of the kills
        share = {(1, False): 0.35, (1, True): 0.4, (2, False): 0.15, (2, True): 0.1}
        done, moments, rounds, losses, hung = dict.fromkeys(share, 0), collections.Counter(), 0, 0, 0
        while moments.total() < wanted:
            kind = ranks, bucket = min(share, key=lambda k: done[k] / share[k])
            r = Round(f'{work}/round{rounds}', config, ranks, server if bucket else None)
            r.go(seconds * (1 if ranks == 1 else 1.5), min(max(wanted // 40, 8), 20))
            par.same(whole.run, r.run)
            losses, hung, rounds = losses + r.losses, hung + r.hung, rounds + 1
            done[kind] += r.kills.total()
            moments += r.kills
            shutil.rmtree(r.folder, ignore_errors=True)     # ranks of a launcher that was killed may still be closing
            print(f'kill: {moments.total()} of {wanted} in {rounds} runs, {done[2, False] + done[2, True]} on 2 ranks: {dict(moments)}', file=sys.stderr, flush=True)
        assert not left_behind(config), 'processes are left behind'
        kinds = ', '.join(f'{n} on {k[0]} rank{"s" * (k[0] > 1)}{" with a bucket" * k[1]}' for k, n in sorted(done.items()))
        when = ', '.join(f'{n} during {k}' for k, n in sorted(moments.items()))
        print(f'kill: {moments.total()} kills in {rounds} runs ({kinds}; {when}), {losses} folders lost, {hung} launchers hung; one run alone takes {seconds:.1f} s; '
              'weights, tables, store and metrics the same each time')
    finally:
        if server:
            server.stop()
        if not os.environ.get('SOAK_KEEP'):
            shutil.rmtree(work, ignore_errors=True)


main(int(sys.argv[1]))
