// A Site and Vision server in plain Node.js, to start from. Replace the data; keep the checks and their order.
// PARTNER_KEY=… HAULER=… VIDEO=file.mp4 PORT=8090 node sample-server.mjs
import { createHmac, randomUUID } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';

const { PORT = '8090', PARTNER_KEY = '', HAULER = '', VIDEO = '' } = process.env;
const MINUTE = 60_000;
const LINK_MS = 8 * 60 * MINUTE;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const siteId = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const updatedAt = '2026-01-31T08:30:00Z';
const material = { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', materialType: 'Mixed debris', measureUnit: 'Ton' };
const siteData = {
  sites: [{ id: siteId, name: 'Onion Creek', active: true, updatedAt }],
  kiosks: [],
  materials: [{ ...material, siteId, active: true, updatedAt }],
};
const hour = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 120 * MINUTE;
const range = (from, to) => ({ startTime: new Date(from).toISOString(), endTime: new Date(to).toISOString() });
const recordings = ['front', 'front', 'front', 'rear'].map((cameraId, i) => {
  const from = hour + (cameraId === 'front' ? i : 0) * MINUTE;
  return { id: `recording-${i}`, customerId: HAULER, truckId: 'TRUCK-7', cameraId, ...range(from, from + MINUTE) };
});
const clips = [];

class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}
const invalid = (message) => new Refusal(400, 'INVALID_PAYLOAD', message);
const notFound = (message) => new Refusal(404, 'NOT_FOUND', message);

function check(fields, required) {
  for (const name of required) if (typeof fields[name] !== 'string') throw invalid(`${name} is required`);
  for (const name of ['startTime', 'endTime'])
    if (fields[name] !== undefined && !TIME.test(fields[name])) throw invalid(`${name} must be a date-time`);
  if (Date.parse(fields.startTime) >= Date.parse(fields.endTime)) throw invalid('endTime must be after startTime');
  const known = recordings.filter((each) => each.customerId === fields.customerId);
  for (const name of ['truckId', 'cameraId'])
    if (fields[name] !== undefined && !known.some((each) => each[name] === fields[name])) known.length = 0;
  if (known.length === 0) throw notFound('the customer, truck or camera is unknown');
}

function list(name, elements, query, host) {
  const [page, pageSize] = [query.page ?? '1', query.pageSize ?? '20'].map(Number);
  if (!Number.isInteger(page) || page < 1) throw invalid('page must be an integer from 1');
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100) throw invalid('pageSize must be from 1 to 100');
  const { startTime, endTime } = query;
  const found = elements.filter(
    (each) =>
      ['customerId', 'truckId', 'cameraId', 'requestId'].every(
        (field) => (query[field] ?? each[field]) === each[field],
      ) &&
      !(Date.parse(each.endTime) <= Date.parse(startTime)) &&
      !(Date.parse(each.startTime) >= Date.parse(endTime)),
  );
  const rows = found.slice((page - 1) * pageSize, page * pageSize).map((each) => withLink(each, host));
  const pagination = { page, pageSize, totalItems: found.length, totalPages: Math.ceil(found.length / pageSize) };
  return { [name]: rows, pagination };
}

const signature = (id, expires) => createHmac('sha256', PARTNER_KEY).update(`${id} ${expires}`).digest('hex');
function withLink(element, host) {
  const expires = Date.now() + LINK_MS;
  const durationSeconds = Math.round((Date.parse(element.endTime) - Date.parse(element.startTime)) / 1000);
  const downloadUrl = `http://${host}/files/${element.id}.mp4?expires=${expires}&signature=${signature(element.id, expires)}`;
  return { ...element, durationSeconds, downloadUrl, expiresAt: new Date(expires).toISOString() };
}

function sendFile(request, response, id, { expires, signature: given }) {
  if (given !== signature(id, expires)) throw new Refusal(401, 'UNAUTHORIZED', 'the link is not valid');
  if (Number(expires) < Date.now()) throw new Refusal(410, 'NOT_FOUND', 'the link has expired');
  const { size, mtimeMs } = statSync(VIDEO);
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const headers = { 'Content-Type': 'video/mp4', ETag: `"${size}-${mtimeMs}"`, 'Accept-Ranges': 'bytes' };
  const isPart =
    first !== undefined && Number(first) < size && [undefined, headers.ETag].includes(request.headers['if-range']);
  const [start, end] = isPart ? [Number(first), Math.min(Number(last || size - 1), size - 1)] : [0, size - 1];
  const part = isPart ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {};
  response.writeHead(isPart ? 206 : 200, { ...headers, ...part, 'Content-Length': end - start + 1 });
  createReadStream(VIDEO, { start, end }).pipe(response);
}

async function jsonOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8'))
    if ((text += chunk).length > 65_536) throw invalid('too large');
  try {
    return Object(JSON.parse(text));
  } catch {
    throw invalid('the body must be JSON');
  }
}

const routes = {
  'GET /scale-platform/v1/sites': ({ haulerId }) => {
    if (!UUID.test(haulerId ?? '')) throw invalid('haulerId must be a UUID');
    if (haulerId.toLowerCase() !== HAULER.toLowerCase()) throw notFound('no data of this hauler');
    return { success: true, data: siteData };
  },
  'POST /video-platform/v1/videos/requests': async (_, request) => {
    const fields = await jsonOf(request);
    check(fields, ['customerId', 'truckId', 'cameraId', 'startTime', 'endTime']);
    const { customerId, truckId, cameraId, startTime, endTime } = fields;
    const requestId = randomUUID();
    clips.push({ id: `clip-${requestId}`, requestId, customerId, truckId, cameraId, startTime, endTime });
    return { success: true, requestId, status: 'processing' };
  },
  'GET /video-platform/v1/videos': (query, { headers }) => {
    check(query, ['customerId']);
    const { requestId } = query;
    const isKnown = clips.some((clip) => clip.requestId === requestId);
    const state = isKnown ? { request: { requestId, status: 'ready' } } : {};
    return { success: true, data: { ...list('videos', clips, query, headers.host), ...state } };
  },
  'GET /video-platform/v1/videos/continuous': (query, { headers }) => {
    check(query, ['customerId', 'truckId', 'startTime', 'endTime']);
    return { success: true, data: list('recordings', recordings, query, headers.host) };
  },
};

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
  const query = Object.fromEntries(searchParams);
  const send = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const answer = async () => {
    const [, file] = /^\/files\/([\w-]+)\.mp4$/.exec(pathname) ?? [];
    if (file !== undefined && request.method === 'GET') return sendFile(request, response, file, query);
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) throw notFound(`no route for ${request.method} ${pathname}`);
    if (request.headers['api-key'] !== PARTNER_KEY) throw new Refusal(401, 'UNAUTHORIZED', 'the API key is wrong');
    send(request.method === 'POST' ? 202 : 200, await route(query, request));
  };
  answer().catch((error) => {
    if (error instanceof Refusal)
      return send(error.status, { success: false, error: { code: error.code, message: error.message } });
    console.error(error);
    send(500, { success: false, error: { code: 'INTERNAL_ERROR', message: 'unexpected error' } });
  });
}).listen(Number(PORT), () => console.log(`listening at http://127.0.0.1:${PORT}`));
