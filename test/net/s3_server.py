#!/usr/bin/env python3
"""A strict S3 and instance-metadata server for tests, on loopback.

s3_server.py DIR [--port N] [--latency S]: prints its port, then serves until killed. Objects live in
memory and in DIR/objects.json's journal, so that a server that is killed and started again on the same
DIR still has them. It refuses what S3 refuses: wrong or missing signatures, payload hashes, lengths,
checksums, unknown queries, conditions that fail, parts out of order or too small.

Faults are scripted by POST /_fault with a JSON list of rules, tried in order for every S3 request:
  {"match": "PUT objects/", "nth": 2, "count": 1, "do": "500"}
`match` is found in "METHOD path?query"; it fires from the nth match on, count times (0: always). `do`:
  500, 503, 429        that status (503 with SlowDown)
  error200             status 200 with an <Error> body
  drop                 the connection is closed before the request is carried out
  drop-after           it is carried out, and then the connection is closed
  cut                  half of the answer's body, then the connection is closed
  stall                nothing is answered for `seconds`
  stall-after          carried out, and answered only after `seconds`
  corrupt              an answer's body with one bit changed
POST /_spot {"action": {...}|null, "rebalance": {...}|null, "token_seconds": N} sets the notices. GET /_log gives
what was asked, GET /_objects keys with digests.
"""
import argparse, base64, hashlib, hmac, http.server, json, os, socketserver, sys, threading, time, urllib.parse
from xml.sax.saxutils import escape

KEY, SECRET, REGION = 'AKIDTEST', 'secret/of+the=test', 'eu-test-1'
PART_LEAST = 5 << 20


class Fault(Exception):
    pass


class Refused(Exception):
    def __init__(self, status, code, text=''):
        super().__init__(code)
        self.status, self.code, self.text = status, code, text


class State:
    def __init__(self, folder):
        self.lock = threading.RLock()
        self.buckets, self.uploads, self.faults, self.log = {}, {}, [], []
        self.spot = {'action': None, 'rebalance': None, 'token_seconds': 21600}
        self.tokens, self.serial, self.folder = {}, 0, folder
        os.makedirs(os.path.join(folder, 'data'), exist_ok=True)
        self.journal = os.path.join(folder, 'journal')
        if os.path.exists(self.journal):
            for line in open(self.journal):
                self.replay(json.loads(line))

    def replay(self, r):
        if r['do'] == 'bucket':
            self.buckets.setdefault(r['bucket'], {'objects': {}, 'settings': {}})
        elif r['do'] == 'setting':
            self.buckets[r['bucket']]['settings'][r['name']] = r['body']
        elif r['do'] == 'put':
            body = open(os.path.join(self.folder, 'data', r['file']), 'rb').read()
            self.buckets[r['bucket']]['objects'][r['key']] = {'body': body, 'etag': r['etag'], 'meta': r['meta']}
        elif r['do'] == 'delete':
            self.buckets[r['bucket']]['objects'].pop(r['key'], None)

    def record(self, **r):
        with open(self.journal, 'a') as f:
            f.write(json.dumps(r) + '\n')

    def put(self, bucket, key, body, etag, meta):
        name = hashlib.sha256(body).hexdigest()
        path = os.path.join(self.folder, 'data', name)
        if not os.path.exists(path):
            with open(path + '.tmp', 'wb') as f:
                f.write(body)
            os.rename(path + '.tmp', path)
        self.buckets[bucket]['objects'][key] = {'body': body, 'etag': etag, 'meta': meta}
        self.record(do='put', bucket=bucket, key=key, file=name, etag=etag, meta=meta)


def enc(s, safe=''):
    return urllib.parse.quote(s, safe='-._~' + safe)


def sign(secret, date, region, text):
    k = ('AWS4' + secret).encode()
    for part in (date, region, 's3', 'aws4_request'):
        k = hmac.new(k, part.encode(), hashlib.sha256).digest()
    return hmac.new(k, text.encode(), hashlib.sha256).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    st = None
    latency = 0.0

    def log_message(self, *a):
        pass

    # --- the wire ---------------------------------------------------------------------------
    def answer(self, status, body=b'', headers=None):
        rule = getattr(self, 'rule', None)
        if isinstance(body, str):
            body = body.encode()
        if rule == 'drop-after':
            raise Fault
        if rule == 'corrupt' and body:
            body = bytes([body[0] ^ 1]) + body[1:]
        self.send_response(status)
        length = (headers or {}).pop('Content-Length', None)
        for k, v in (headers or {}).items():
            self.send_header(k, v)
        self.send_header('Content-Length', length if length is not None else str(len(body)))
        self.end_headers()
        if self.command == 'HEAD':
            return
        if rule == 'cut':
            self.wfile.write(body[:len(body) // 2])
            raise Fault
        self.wfile.write(body)

    def error(self, r):
        self.answer(r.status, f'<?xml version="1.0"?><Error><Code>{r.code}</Code><Message>{escape(r.text)}</Message></Error>', {'Content-Type': 'application/xml'})

    def handle_one(self):
        self.rule = None
        path, _, query = self.path.partition('?')
        n = self.headers.get('Content-Length')
        if self.command in ('PUT', 'POST') and n is None:
            self.error(Refused(411, 'MissingContentLength'))
            return
        self.body = self.rfile.read(int(n or 0))
        if len(self.body) != int(n or 0):
            raise Fault
        if path.startswith('/_'):
            return self.control(path)
        if path.startswith('/latest/'):
            return self.metadata(path)
        if self.latency:
            time.sleep(self.latency)
        with self.st.lock:
            self.st.log.append(f'{self.command} {self.path}')
            rule = self.pick_fault()
        if rule:
            self.before(rule)
        try:
            with self.st.lock:
                self.check_signature(path, query)
                out = self.s3(urllib.parse.unquote(path), urllib.parse.parse_qs(query, keep_blank_values=True))
        except Refused as r:
            return self.error(r)
        if rule and rule['do'] == 'stall-after':
            time.sleep(rule.get('seconds', 60))
        self.answer(*out)

    def pick_fault(self):
        what = f'{self.command} {self.path}'
        for f in self.st.faults:
            if f['match'] not in what:
                continue
            f['seen'] = f.get('seen', 0) + 1
            nth, count = f.get('nth', 1), f.get('count', 1)
            if f['seen'] >= nth and (count == 0 or f['seen'] < nth + count):
                return f
        return None

    def before(self, f):
        do = f['do']
        if do == 'drop':
            raise Fault
        if do == 'stall':
            time.sleep(f.get('seconds', 60))
            raise Fault
        if do in ('500', '503', '429'):
            self.rule = None
            self.error(Refused(int(do), {'500': 'InternalError', '503': 'SlowDown', '429': 'Throttling'}[do]))
            raise StopIteration
        if do == 'error200':
            self.answer(200, '<?xml version="1.0"?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>')
            raise StopIteration
        self.rule = do

    def serve(self):
        try:
            self.handle_one()
        except StopIteration:
            pass
        except (Fault, ConnectionError, BrokenPipeError):
            self.close_connection = True
            try:
                self.connection.shutdown(2)
            except OSError:
                pass

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

    # --- signatures -----------------------------------------------------------------------------
    def check_signature(self, path, query):
        auth = self.headers.get('Authorization', '')
        if not auth.startswith('AWS4-HMAC-SHA256 '):
            raise Refused(403, 'AccessDenied', 'not signed')
        parts = dict(p.strip().split('=', 1) for p in auth[len('AWS4-HMAC-SHA256 '):].split(','))
        key, date, region, service, end = parts['Credential'].split('/')
        if key != KEY and key != 'AKIDROLE':
            raise Refused(403, 'InvalidAccessKeyId')
        if key == 'AKIDROLE' and self.headers.get('x-amz-security-token') != 'role-token':
            raise Refused(403, 'InvalidToken')
        if (region, service, end) != (REGION, 's3', 'aws4_request'):
            raise Refused(400, 'AuthorizationHeaderMalformed', f'region {region}')
        names = parts['SignedHeaders'].split(';')
        need = {'host'} | {k.lower() for k in self.headers.keys() if k.lower().startswith('x-amz-')}
        if names != sorted(names) or not need <= set(names):
            raise Refused(403, 'AccessDenied', f'headers not signed: {sorted(need - set(names))}')
        stamp = self.headers['x-amz-date']
        if abs(time.mktime(time.strptime(stamp, '%Y%m%dT%H%M%SZ')) - time.mktime(time.gmtime())) > 900:
            raise Refused(403, 'RequestTimeTooSkewed')
        sha = self.headers.get('x-amz-content-sha256')
        if not sha:
            raise Refused(400, 'InvalidRequest', 'Missing required header: x-amz-content-sha256')
        q = sorted((enc(urllib.parse.unquote(k)), enc(urllib.parse.unquote(v))) for k, _, v in (p.partition('=') for p in query.split('&') if p))
        lines = ''.join(f'{n}:{" ".join(self.headers[n].split())}\n' for n in names)
        request = '\n'.join([self.command, enc(urllib.parse.unquote(path), '/'), '&'.join(f'{k}={v}' for k, v in q), lines, ';'.join(names), sha])
        text = '\n'.join(['AWS4-HMAC-SHA256', stamp, f'{date}/{region}/s3/aws4_request', hashlib.sha256(request.encode()).hexdigest()])
        if not hmac.compare_digest(sign(SECRET, date, region, text), parts['Signature']):
            raise Refused(403, 'SignatureDoesNotMatch')
        if sha != 'UNSIGNED-PAYLOAD' and sha != hashlib.sha256(self.body).hexdigest():
            raise Refused(400, 'XAmzContentSHA256Mismatch')
        sums = {'x-amz-checksum-sha256': hashlib.sha256}
        for name, fn in sums.items():
            if name in self.headers and base64.b64decode(self.headers[name]) != fn(self.body).digest():
                raise Refused(400, 'BadDigest')
        if 'Content-MD5' in self.headers and base64.b64decode(self.headers['Content-MD5']) != hashlib.md5(self.body).digest():
            raise Refused(400, 'BadDigest')

    # --- S3 ----------------------------------------------------------------------------------------
    def s3(self, path, q):
        host = self.headers['Host'].split(':')[0]
        if host.endswith('.localhost'):
            bucket, key = host[:-len('.localhost')], path[1:]
        else:
            bucket, _, key = path[1:].partition('/')
        if not key:
            return self.of_bucket(bucket, q)
        if bucket not in self.st.buckets:
            raise Refused(404, 'NoSuchBucket')
        return self.of_object(self.st.buckets[bucket], bucket, key, q)

    def of_bucket(self, name, q):
        st, b = self.st, self.st.buckets.get(name)
        if self.command == 'PUT' and not q:
            if b is not None:
                raise Refused(409, 'BucketAlreadyOwnedByYou')
            if REGION.encode() not in self.body:
                raise Refused(400, 'IllegalLocationConstraintException')
            st.buckets[name] = {'objects': {}, 'settings': {}}
            st.record(do='bucket', bucket=name)
            return 200, b''
        if b is None:
            raise Refused(404, 'NoSuchBucket')
        if self.command == 'HEAD':
            return 200, b''
        setting = next((k for k in ('encryption', 'versioning', 'lifecycle') if k in q), None)
        if setting and self.command == 'PUT':
            if not self.body.startswith(b'<'):
                raise Refused(400, 'MalformedXML')
            b['settings'][setting] = self.body.decode()
            st.record(do='setting', bucket=name, name=setting, body=self.body.decode())
            return 200, b''
        if setting and self.command == 'GET':
            if setting not in b['settings']:
                if setting == 'versioning':
                    return 200, '<VersioningConfiguration/>'
                raise Refused(404, 'NoSuchLifecycleConfiguration' if setting == 'lifecycle' else 'ServerSideEncryptionConfigurationNotFoundError')
            return 200, b['settings'][setting]
        if self.command == 'GET' and q.get('list-type') == ['2']:
            return self.list(name, b, q)
        raise Refused(501, 'NotImplemented', f'{self.command} {q}')

    def list(self, name, b, q):
        prefix, after = q.get('prefix', [''])[0], q.get('continuation-token', [''])[0]
        keys = [k for k in sorted(b['objects'], key=lambda s: s.encode()) if k.startswith(prefix) and k > after]
        page = keys[:int(q.get('max-keys', ['3'])[0])]
        rows = ''.join(f'<Contents><Key>{escape(k)}</Key><Size>{len(b["objects"][k]["body"])}</Size></Contents>' for k in page)
        more = len(page) < len(keys)
        token = f'<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>' if more else ''
        return 200, (f'<?xml version="1.0"?><ListBucketResult><Name>{name}</Name><Prefix>{escape(prefix)}</Prefix><IsTruncated>{str(more).lower()}</IsTruncated>'
                     f'{rows}{token}</ListBucketResult>')

    def check_condition(self, b, key):
        if self.headers.get('If-None-Match') == '*' and key in b['objects']:
            raise Refused(412, 'PreconditionFailed')
        match = self.headers.get('If-Match')
        if match and (key not in b['objects'] or b['objects'][key]['etag'] != match):
            raise Refused(412, 'PreconditionFailed')

    def meta(self):
        return {k.lower(): v for k, v in self.headers.items() if k.lower().startswith('x-amz-meta-')}

    def of_object(self, b, bucket, key, q):
        st = self.st
        if 'uploads' in q and self.command == 'POST':
            st.serial += 1
            uid = f'up/{st.serial}+='
            st.uploads[uid] = {'bucket': bucket, 'key': key, 'parts': {}, 'meta': self.meta()}
            return 200, f'<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key><UploadId>{uid}</UploadId></InitiateMultipartUploadResult>'
        if 'uploadId' in q:
            return self.of_upload(b, bucket, key, q)
        if q:
            raise Refused(501, 'NotImplemented', str(q))
        if self.command == 'PUT':
            self.check_condition(b, key)
            etag = f'"{hashlib.md5(self.body).hexdigest()}"'
            st.put(bucket, key, self.body, etag, self.meta())
            return 200, b'', {'ETag': etag}
        if self.command == 'DELETE':
            b['objects'].pop(key, None)
            st.record(do='delete', bucket=bucket, key=key)
            return 204, b''
        if key not in b['objects']:
            raise Refused(404, 'NoSuchKey')
        o = b['objects'][key]
        headers = {'ETag': o['etag'], **o['meta']}
        if self.command == 'HEAD':
            return 200, b'', {**headers, 'Content-Length': str(len(o['body']))}
        want = self.headers.get('Range')
        if not want:
            return 200, o['body'], headers
        lo, hi = (int(x) for x in want[len('bytes='):].split('-'))
        if lo >= len(o['body']):
            raise Refused(416, 'InvalidRange')
        piece = o['body'][lo:hi + 1]
        return 206, piece, {**headers, 'Content-Range': f'bytes {lo}-{lo + len(piece) - 1}/{len(o["body"])}'}

    def of_upload(self, b, bucket, key, q):
        st, uid = self.st, q['uploadId'][0]
        up = st.uploads.get(uid)
        if not up or (up['bucket'], up['key']) != (bucket, key):
            raise Refused(404, 'NoSuchUpload')
        if self.command == 'PUT':
            number = int(q['partNumber'][0])
            if not 1 <= number <= 10000:
                raise Refused(400, 'InvalidArgument')
            etag = f'"{hashlib.md5(self.body).hexdigest()}"'
            up['parts'][number] = (etag, self.body)
            return 200, b'', {'ETag': etag}
        if self.command == 'DELETE':
            del st.uploads[uid]
            return 204, b''
        if self.command == 'POST':
            import xml.etree.ElementTree as ET
            said = [(int(p.find('PartNumber').text), p.find('ETag').text) for p in ET.fromstring(self.body).iter('Part')]
            if [n for n, _ in said] != sorted({n for n, _ in said}) or any(n not in up['parts'] or up['parts'][n][0] != t for n, t in said):
                raise Refused(400, 'InvalidPart')
            if any(len(up['parts'][n][1]) < PART_LEAST for n, _ in said[:-1]):
                raise Refused(400, 'EntityTooSmall')
            self.check_condition(b, key)
            body = b''.join(up['parts'][n][1] for n, _ in said)
            st.put(bucket, key, body, f'"{hashlib.md5(body).hexdigest()}-{len(said)}"', up['meta'])
            del st.uploads[uid]
            return 200, f'<CompleteMultipartUploadResult><Key>{escape(key)}</Key></CompleteMultipartUploadResult>'
        raise Refused(501, 'NotImplemented')

    # --- metadata of an instance, and the test's own doors ----------------------------------------------
    def metadata(self, path):
        st, now = self.st, time.time()
        if self.command == 'PUT' and path == '/latest/api/token':
            if not self.headers.get('X-aws-ec2-metadata-token-ttl-seconds'):
                return self.answer(400)
            token = f'token-{len(st.tokens)}'
            st.tokens[token] = now + st.spot['token_seconds']
            return self.answer(200, token)
        if st.tokens.get(self.headers.get('X-aws-ec2-metadata-token'), 0) < now:
            return self.answer(401)
        what = path[len('/latest/meta-data/'):]
        role = {'Code': 'Success', 'AccessKeyId': 'AKIDROLE', 'SecretAccessKey': SECRET, 'Token': 'role-token',
                'Expiration': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(now + 3600))}
        found = {'spot/instance-action': st.spot['action'], 'events/recommendations/rebalance': st.spot['rebalance'],
                 'iam/security-credentials/': 'test-role', 'iam/security-credentials/test-role': role}.get(what)
        if found is None:
            return self.answer(404)
        self.answer(200, found if isinstance(found, str) else json.dumps(found))

    def control(self, path):
        st = self.st
        if path == '/_fault':
            with st.lock:
                st.faults = json.loads(self.body or b'[]')
            return self.answer(200)
        if path == '/_spot':
            st.spot.update(json.loads(self.body))
            return self.answer(200)
        if path == '/_log':
            with st.lock:
                text, st.log = json.dumps(st.log), []
            return self.answer(200, text)
        if path == '/_objects':
            with st.lock:
                return self.answer(200, json.dumps({f'{n}/{k}': hashlib.sha256(o['body']).hexdigest() for n, b in st.buckets.items() for k, o in b['objects'].items()}))
        self.answer(404)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def main():
    p = argparse.ArgumentParser()
    p.add_argument('folder')
    p.add_argument('--port', type=int, default=0)
    p.add_argument('--latency', type=float, default=0.0)
    a = p.parse_args()
    Handler.st, Handler.latency = State(a.folder), a.latency
    s = Server(('127.0.0.1', a.port), Handler)
    print(s.server_address[1], flush=True)
    s.serve_forever()


if __name__ == '__main__':
    sys.exit(main())
