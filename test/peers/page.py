"""The page in headless Chromium at desktop and phone width: what it draws, hovering, sorting, opening a task; static and live."""
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PROGRAM = os.environ["TRITONRL"]
# Looks at the page from a frame of the width asked for, does what a person would, and leaves what it saw as text.
PROBE = """<!doctype html><body><iframe id=f src="%s" style="width:%dpx;height:900px;border:0"></iframe><pre id=out></pre><script>
const wait = ms => new Promise(r => setTimeout(r, ms));
f.onload = async () => {
  const d = f.contentDocument, w = f.contentWindow, q = s => [...d.querySelectorAll(s)], seen = {};
  await wait(1500);
  seen.title = d.title;
  seen.overflow = d.documentElement.scrollWidth - d.documentElement.clientWidth;
  seen.charts = q('[data-chart]').map(x => x.dataset.chart);
  seen.state = d.getElementById('state').textContent;
  const svg = q('[data-chart] svg')[0], r = svg.getBoundingClientRect();
  svg.dispatchEvent(new w.PointerEvent('pointermove', { clientX: r.left + r.width * 0.8, clientY: r.top + 50, bubbles: true }));
  seen.tip = q('[data-chart] .tip')[0].textContent;
  const slider = d.getElementById('smooth');
  const before = q('[data-chart] path')[1] ? q('[data-chart] path')[1].getAttribute('d') : '';
  slider.value = 0.95; slider.dispatchEvent(new w.Event('input'));
  seen.smoothed = q('[data-chart] path')[1] ? q('[data-chart] path')[1].getAttribute('d') !== before : null;
  seen.cards = d.getElementById('cards').textContent;
  seen.evals = q('#evaltable tr').length;
  seen.funnels = q('#funnels figure').length;
  seen.rows = q('tr.row').length;
  const changes = () => q('tr.row').map(x => x.children[6].textContent).filter(x => x !== '-').map(Number);
  seen.changes = changes();
  q('th[data-k=change]')[0].click();
  seen.reversed = changes();
  q('#quick button')[1].click();
  seen.gained = d.getElementById('found').textContent;
  q('#quick button')[0].click();
  q('tr.row')[0].click();
  await wait(800);
  seen.source = (q('[data-source]')[0] || {}).textContent || '';
  seen.candidates = q('#detail details').length;
  seen.texts = d.getElementById('text').textContent.length;
  out.textContent = 'SEEN ' + JSON.stringify(seen) + ' END';
};
</script>"""


def run(*words):
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def look(address, width, folder, port):
    with open(folder + "/probe.html", "w") as f:
        f.write(PROBE % (address, width))
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    dom = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-web-security", "--user-data-dir=" + folder + "/profile",
                          "--window-size=1400,1000", "--virtual-time-budget=9000", "--dump-dom", "http://127.0.0.1:%d/probe.html" % port],
                         capture_output=True, text=True, timeout=120).stdout
    found = re.search(r">SEEN (.*?) END</pre>", dom, re.S)
    assert found, dom[-2000:]
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def check(seen, what):
    assert seen["overflow"] <= 0, (what, "is wider than the screen by", seen["overflow"])
    assert {"loss", "reward", "correct", "entropy", "length"} <= set(seen["charts"]), (what, seen["charts"])
    assert "step" in seen["tip"], (what, "no values when hovering", seen["tip"])
    assert seen["smoothed"] is not False, (what, "the smoothing does nothing")
    assert seen["evals"] > 3 and seen["funnels"] >= 4 and seen["rows"] > 0, (what, seen)
    assert seen["changes"] == sorted(seen["changes"], reverse=True) and seen["reversed"] == sorted(seen["changes"]), (what, seen)
    assert "class Model" in seen["source"] and seen["candidates"] > 0 and seen["texts"] > 50, (what, seen)
    print("ok", what)


def main():
    folder = tempfile.mkdtemp()
    try:
        run("run", "configs/demo.yaml", "--out", folder + "/run", "--set", "prepare.count=64", "--set", "prepare.rl_count=24", "--set", "rl.steps=3",
            "--set", "rl.tasks_per_step=4", "--set", "sft.steps=4", "--set", "eval.limit=8", "--set", "eval.n=2", "--set", "max_new_tokens=80",
            "--budget-hours", "10", "--price-per-hour", "2")
        size = os.path.getsize(folder + "/run/report.html")
        assert size <= 5_000_000, size
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
        handler.log_message = lambda *_: None
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--run", folder + "/run", "--run", folder + "/run"], stdout=subprocess.PIPE, text=True)
        live = server.stdout.readline().split()[-1] + "/"
        text = open(folder + "/run/report.html").read()
        assert not re.search(r"(src|href)=.?https?://", text), "the page asks others for something"
        try:
            for width, name in ((1280, "desktop"), (390, "phone")):
                check(look("run/report.html", width, folder, web.server_port), "the report on a " + name)
                seen = look(live, width, folder, web.server_port)
                assert seen["state"].startswith("live"), seen["state"]
                assert re.search(r"hours: [\d.]+ of 10, [\d.]+ left; money: [\d.]+ spent", seen["cards"]), seen["cards"]
                check(seen, "the live page on a " + name)
        finally:
            server.terminate()
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("page: %d bytes" % size)


sys.exit(main())
