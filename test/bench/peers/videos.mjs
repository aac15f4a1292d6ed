// The partner side of Vision with its file host. Arguments: number of videos, bytes of each. GET /videos/N.mp4. The customer
// `1-of-4` has the videos 1, 5, 9 and so on. It reads no disk and holds no video in memory: all videos repeat one piece of random
// bytes.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { box, FTYP, MOOV } from '../../support/sample-video.ts';

const [videoCount, videoBytes] = process.argv.slice(2).map(Number);
const PIECE = randomBytes(4 * 1024 * 1024);
const STARTED = Date.now() - 12 * 3_600_000;

/** The beginning of a video, before the repeated pieces; it differs for each video. */
function headOf(name, bytes) {
  const before = Buffer.concat([FTYP, MOOV]);
  const mdat = box('mdat', Buffer.from(name.padEnd(16)));
  mdat.writeUInt32BE(bytes - before.length);
  return Buffer.concat([before, mdat]);
}

function* piecesOf(name, bytes) {
  const head = headOf(name, bytes);
  yield head;
  for (let left = bytes - head.length; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
}

function send(response, name, bytes) {
  response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': bytes, ETag: `"${name}"` });
  const pieces = piecesOf(name, bytes);
  const more = () => {
    for (;;) {
      const { value, done } = pieces.next();
      if (done) return void response.end();
      if (!response.write(value)) return void response.once('drain', more);
    }
  };
  more();
}

const at = (minute) => new Date(STARTED + minute * 60_000).toISOString();
const chunk = (base, { customerId, truckId }, name, n) => ({
  id: name,
  customerId,
  truckId,
  cameraId: 'front',
  startTime: at(n),
  endTime: at(n + 1),
  durationSeconds: 60,
  downloadUrl: `${base}/videos/${name}.mp4`,
  expiresAt: new Date(Date.now() + 8 * 3_600_000 + n * 1_000).toISOString(),
});

function list(response, base, query) {
  const [truckId, customerId] = [query.get('truckId'), query.get('customerId')];
  const [share, shares] = customerId.split('-of-').map(Number);
  const names = Array.from({ length: videoCount }, (_, n) => String(n)).filter((_, n) => n % shares === share);
  const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 20)];
  const from = Date.parse(query.get('startTime'));
  const all = names
    .map((name, n) => chunk(base, { customerId, truckId }, name, n))
    .filter(({ endTime }) => Date.parse(endTime) > from);
  const recordings = all.slice((page - 1) * pageSize, page * pageSize);
  const pagination = { page, pageSize, totalItems: all.length, totalPages: Math.ceil(all.length / pageSize) };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ success: true, data: { recordings, pagination } }));
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://videos');
  const [, name] = /^\/videos\/(\w+)\.mp4$/.exec(pathname) ?? [];
  if (name !== undefined) send(response, name, videoBytes);
  else list(response, `http://${request.headers.host}`, searchParams);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
