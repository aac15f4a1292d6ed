// A Site and Vision server in plain Node.js, to start from. Replace the data; keep the checks and their order.
// PARTNER_KEY=… HAULER=… VIDEO=file.mp4 PORT=8090 node sample-server.mjs
import { createHmac, randomUUID } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';

const { PORT = '8090', PARTNER_KEY, HAULER, VIDEO } = process.env;
if (!PARTNER_KEY || !HAULER || !VIDEO) throw new Error('set PARTNER_KEY, HAULER and VIDEO');
const MINUTE = 60_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

const [siteId, updatedAt] = ['0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10', '2026-01-31T08:30:00Z'];
const debris = { id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21', materialType: 'Mixed debris', measureUnit: 'Ton' };
const sites = [{ id: siteId, name: 'Onion Creek', active: true, updatedAt }];
const materials = [{ ...debris, siteId, active: true, updatedAt }];
const hour = Math.floor(Date.now() / (60 * MINUTE)) * 60 * MINUTE - 120 * MINUTE;
const recordings = ['front 0', 'front 1', 'front 2', 'rear 0'].map((each) => {
  const [cameraId, minute] = each.split(' ');
  const [startTime, endTime] = [0, 1].map((end) => new Date(hour + (Number(minute) + end) * MINUTE).toISOString());
  return { id: `${cameraId}-${minute}`, customerId: HAULER, truckId: 'TRUCK-7', cameraId, startTime, endTime };
});
const clips = [];

const refusal = (status, code, message) => Object.assign(new Error(message), { status, code });
const invalid = (message) => refusal(400, 'INVALID_PAYLOAD', message);

function check(fields, ...required) {
  for (const name of required) if (typeof fields[name] !== 'string') throw invalid(`${name} is required`);
  for (const name of ['startTime', 'endTime'])
    if (fields[name] !== undefined && !TIME.test(fields[name])) throw invalid(`${name} must be a date-time`);
  if (Date.parse(fields.startTime) >= Date.parse(fields.endTime)) throw invalid('endTime must be after startTime');
  const names = ['customerId', 'truckId', 'cameraId'].filter((name) => fields[name] !== undefined);
  if (!recordings.some((each) => names.every((name) => each[name] === fields[name])))
    throw refusal(404, 'NOT_FOUND', 'the customer, truck or camera is unknown');
}

function pageOf(elements, { page = '1', pageSize = '20', startTime, endTime, ...filters }, host) {
  const [number, size] = [Number(page), Number(pageSize)];
  if (!Number.isInteger(number) || number < 1) throw invalid('page must be an integer from 1');
  if (!Number.isInteger(size) || size < 1 || size > 100) throw invalid('pageSize must be an integer from 1 to 100');
  const found = elements
    .filter((each) => Object.entries(filters).every(([name, value]) => (each[name] ?? value) === value))
    .filter((each) => !(Date.parse(each.endTime) <= Date.parse(startTime)))
    .filter((each) => !(Date.parse(each.startTime) >= Date.parse(endTime)))
    .sort((a, b) => Date.parse(a.startTime) - Date.parse(b.startTime) || (a.id < b.id ? -1 : 1));
  const rows = found.slice((number - 1) * size, number * size).map((each) => withLink(each, host));
  const totals = { totalItems: found.length, totalPages: Math.ceil(found.length / size) };
  return { rows, pagination: { page: number, pageSize: size, ...totals } };
}

const signatureOf = (id, expires) => createHmac('sha256', PARTNER_KEY).update(`${id} ${expires}`).digest('hex');
function withLink(element, host) {
  const expires = Date.now() + 480 * MINUTE;
  const query = `expires=${expires}&signature=${signatureOf(element.id, expires)}`;
  const durationSeconds = Math.round((Date.parse(element.endTime) - Date.parse(element.startTime)) / 1000);
  const downloadUrl = `http://${host}/files/${element.id}.mp4?${query}`;
  return { ...element, durationSeconds, downloadUrl, expiresAt: new Date(expires).toISOString() };
}

function sendFile(request, response, id, { expires, signature }) {
  if (signature !== signatureOf(id, expires)) throw refusal(401, 'UNAUTHORIZED', 'the link is not valid');
  if (Number(expires) < Date.now()) throw refusal(410, 'NOT_FOUND', 'the link has expired');
  const { size, mtimeMs } = statSync(VIDEO);
  const ETag = `"${size}-${mtimeMs}"`;
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const isPart = Number(first) < size && [undefined, ETag].includes(request.headers['if-range']);
  const [start, end] = isPart ? [Number(first), Math.min(Number(last || size - 1), size - 1)] : [0, size - 1];
  const part = isPart ? { 'Content-Range': `bytes ${start}-${end}/${size}` } : {};
  const headers = { 'Content-Type': 'video/mp4', 'Accept-Ranges': 'bytes', 'Content-Length': end - start + 1 };
  response.writeHead(isPart ? 206 : 200, { ...headers, ETag, ...part });
  pipeline(createReadStream(VIDEO, { start, end }), response, () => undefined);
}

async function fieldsOf(request) {
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
  'GET /scale-platform/v1/sites': ({ haulerId = '' }) => {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(haulerId)) throw invalid('haulerId must be a UUID');
    if (haulerId.toLowerCase() !== HAULER.toLowerCase()) throw refusal(404, 'NOT_FOUND', 'no data of this hauler');
    return { success: true, data: { sites, kiosks: [], materials } };
  },
  'POST /video-platform/v1/videos/requests': async (_, request) => {
    const { customerId, truckId, cameraId, startTime, endTime } = await fieldsOf(request);
    const clip = { customerId, truckId, cameraId, startTime, endTime };
    check(clip, ...Object.keys(clip));
    const requestId = randomUUID();
    clips.push({ id: `clip-${requestId}`, requestId, ...clip });
    return { success: true, requestId, status: 'processing' };
  },
  'GET /video-platform/v1/videos': (query, { headers }) => {
    check(query, 'customerId');
    const { requestId } = query;
    const { rows: videos, pagination } = pageOf(clips, query, headers.host);
    const isKnown = clips.some((clip) => clip.requestId === requestId);
    return { success: true, data: { videos, pagination, ...(isKnown && { request: { requestId, status: 'ready' } }) } };
  },
  'GET /video-platform/v1/videos/continuous': (query, { headers }) => {
    check(query, 'customerId', 'truckId', 'startTime', 'endTime');
    const { rows, pagination } = pageOf(recordings, query, headers.host);
    return { success: true, data: { recordings: rows, pagination } };
  },
};

createServer(async (request, response) => {
  const send = (status, body) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  try {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    const query = Object.fromEntries(searchParams);
    const [, file] = /^\/files\/([\w-]+)\.mp4$/.exec(pathname) ?? [];
    if (file !== undefined) return sendFile(request, response, file, query);
    const route = routes[`${request.method} ${pathname}`];
    if (route === undefined) throw refusal(404, 'NOT_FOUND', `no route for ${request.method} ${pathname}`);
    if (request.headers['api-key'] !== PARTNER_KEY) throw refusal(401, 'UNAUTHORIZED', 'the API key is wrong');
    send(request.method === 'POST' ? 202 : 200, await route(query, request));
  } catch (error) {
    if (error.status === undefined) console.error(error);
    const { status, code, message } = error.status ? error : refusal(500, 'INTERNAL_ERROR', 'unexpected error');
    send(status, { success: false, error: { code, message } });
  }
}).listen(Number(PORT), () => console.log(`listening at http://127.0.0.1:${PORT}`));
