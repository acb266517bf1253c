# The environment with the real PyTorch, Triton, transformers, tokenizers and PEFT, created once in the
# user's cache folder. Sourced; `oracle LOG_FOLDER` sets $python, or prints why it cannot and returns 1.
requirements=tools/agree-requirements.txt
venv=${XDG_CACHE_HOME:-$HOME/.cache}/tritonrl/venv
python=$venv/bin/python

# Are the required packages installed in the right versions?
oracle_complete() {
	"$python" - $requirements <<-'END'
	import importlib.metadata as m, sys
	for line in open(sys.argv[1]):
	    name, _, version = line.strip().partition("==")
	    if name and version not in ("", m.version(name).split("+")[0]):
	        sys.exit(f"{name} {m.version(name)} is not {version}")
	END
}

oracle_make() {
	tools/setup agree || return 1
	python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r $requirements || return 1
	oracle_complete
}

oracle() {
	local stamp log=$1/oracle.log
	stamp=$venv/stamp-$(sha256sum <$requirements | cut -c1-16)
	[ ! -e "$stamp" ] || return 0
	if ! { [ -x "$python" ] && oracle_complete >"$log" 2>&1; }; then
		echo "making $venv (about 5 GB, once)"
		oracle_make >"$log" 2>&1 || {
			tail -5 "$log"
			echo "the environment $venv could not be made (see $log); nothing is compared"
			return 1
		}
	fi
	touch "$stamp"
}
