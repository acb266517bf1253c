#!/bin/bash
# The S3 client against a server that others wrote: Ceph's RADOS gateway, one of each daemon, in memory, for this test alone.
# Skipped where Ceph is not installed (tools/setup soak). `ceph.sh COMMAND...` gives the command the server's address instead.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for program in radosgw ceph-mon ceph-mgr ceph-osd ceph; do
	command -v $program > /dev/null || { echo "ceph: skipped, $program is not installed (tools/setup soak)"; exit 0; }
done
work=$(mktemp -d /tmp/ceph-XXXXXX)
pids=()
finish() {
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2> /dev/null || true
	wait 2> /dev/null || true
	rm -rf "$work"
}
trap finish EXIT
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
mon=$(port) web=$(port) fsid=$(cat /proc/sys/kernel/random/uuid) osd=$(cat /proc/sys/kernel/random/uuid)
cat > "$work/ceph.conf" <<END
[global]
fsid = $fsid
mon host = v1:127.0.0.1:$mon
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd objectstore = memstore
memstore device bytes = 2147483648
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data = $work/mon
mon data avail crit = 1
mgr data = $work/mgr
osd data = $work/osd
log file = $work/\$name.log
admin socket = $work/\$name.\$pid.asok
run dir = $work
pid file = $work/\$name.pid
rgw frontends = beast endpoint=127.0.0.1:$web
rgw data = $work/rgw
END
# The gateway, without keys, speaks the first protocol only.
export CEPH_CONF=$work/ceph.conf
mkdir -p "$work/mon" "$work/mgr" "$work/osd" "$work/rgw"
say() { timeout 60 ceph "$@" > /dev/null 2>> "$work/ceph.err" || { echo "ceph: 'ceph $*' failed"; tail -n 5 "$work/ceph.err" "$work"/*.log; exit 1; }; }
monmaptool --create --addv a "[v1:127.0.0.1:$mon]" --fsid "$fsid" "$work/monmap" > /dev/null
ceph-mon --mkfs -i a --monmap "$work/monmap" > /dev/null 2>&1
ceph-mon -f -i a > /dev/null 2>&1 & pids+=($!)
ceph-mgr -f -i x > /dev/null 2>&1 & pids+=($!)
say osd new "$osd"
ceph-osd --mkfs -i 0 --osd-uuid "$osd" > /dev/null 2>&1
ceph-osd -f -i 0 > /dev/null 2>&1 & pids+=($!)
timeout 120 radosgw-admin user create --uid=test --display-name=test --access-key=AKIDTEST '--secret-key=secret/of+the=test' > "$work/user" 2>&1 || {
	tail -n 5 "$work/user"
	exit 1
}
radosgw -f -n client.admin > /dev/null 2>&1 & pids+=($!)
for i in $(seq 300); do
	curl -s -o /dev/null "http://127.0.0.1:$web/" && break
	kill -0 ${pids[3]} 2> /dev/null && [ $i != 300 ] || { echo "ceph: the gateway does not start"; tail -n 5 "$work"/client.admin*.log; exit 1; }
	sleep 0.3
done
[ $# -gt 0 ] || set -- python3 "$here/ceph.py"
"$@" "http://127.0.0.1:$web"
