// A partner with a fleet: every truck has four cameras that record one chunk a minute. The chunks follow from the asked
// range, so nothing is stored here. Argument: bytes of a file. GET /requests returns how often each file was fetched.
import { createServer } from 'node:http';
import { box, FTYP, MOOV } from '../../support/sample-video.ts';

const CAMERAS = ['front', 'rear', 'left', 'right'];
const CHUNK_MS = 60_000;
const fileBytes = Number(process.argv[2]);
const fetched = new Map();

const contents = Buffer.alloc(fileBytes - FTYP.length - MOOV.length - 8, 7);

/** A valid MP4; its contents begin with its name, so that no two files are equal. */
function fileOf(name) {
  contents.fill(0, 0, 64).write(name, 'latin1');
  return Buffer.concat([FTYP, MOOV, box('mdat', contents)]);
}

function* chunksOf(base, query) {
  const [customerId, truckId] = [query.get('customerId'), query.get('truckId')];
  const [from, to] = [Date.parse(query.get('startTime')), Date.parse(query.get('endTime'))];
  const expiresAt = new Date(Date.now() + 8 * 3_600_000).toISOString();
  for (let start = Math.floor(from / CHUNK_MS) * CHUNK_MS; start < to; start += CHUNK_MS) {
    for (const cameraId of CAMERAS) {
      const id = `${customerId}.${truckId}.${cameraId}.${start}`;
      yield {
        id,
        customerId,
        truckId,
        cameraId,
        startTime: new Date(start).toISOString(),
        endTime: new Date(start + CHUNK_MS).toISOString(),
        durationSeconds: CHUNK_MS / 1_000,
        downloadUrl: `${base}/files/${id}.mp4`,
        expiresAt,
      };
    }
  }
}

function list(response, base, query) {
  const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 20)];
  const all = [...chunksOf(base, query)];
  const recordings = all.slice((page - 1) * pageSize, page * pageSize);
  const pagination = { page, pageSize, totalItems: all.length, totalPages: Math.ceil(all.length / pageSize) };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ success: true, data: { recordings, pagination } }));
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://fleet');
  const [, name] = /^\/files\/(.+)\.mp4$/.exec(pathname) ?? [];
  if (name !== undefined) {
    fetched.set(name, (fetched.get(name) ?? 0) + 1);
    const file = fileOf(name);
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': file.length, ETag: `"${name}"` });
    response.end(file);
  } else if (pathname === '/requests') {
    const counts = [...fetched.values()];
    fetched.clear();
    response.end(JSON.stringify({ files: counts.length, repeated: counts.filter((count) => count > 1).length }));
  } else {
    list(response, `http://${request.headers.host}`, searchParams);
  }
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
