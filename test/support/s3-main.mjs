// The S3 server of the tests, in a process of its own: the calls that the service makes, in the form of Amazon's. Its argument, as JSON:
// the folder of its one bucket, and how it differs from Amazon's. It prints its port. It knows one key and checks no signature.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

/**
 * `perPage` objects are listed at once. A server whose `deleteMs` is set takes so long to delete one. One that is `locked` takes no body
 * without a checksum, as a bucket with Object Lock. An `old` one refuses the checksums that it does not know, and a `busy` one every
 * second request. One that keeps `versions` lets them be listed and deleted if they are `open`, and not if they are `closed`.
 */
const { folder, bucket, accessKey, perPage, locked, old, busy, deleteMs, versions } = JSON.parse(process.argv[2]);
const [objects, uploads, kept] = ['objects', 'uploads', 'versions'].map((name) => join(folder, name));
await Promise.all([objects, uploads, kept].map((path) => mkdir(path, { recursive: true })));
/** By key, the newest last: `{ id, isMarker }`. */
const history = new Map();

const refusal = (status, code) => Object.assign(new Error(code), { status, code });
const escaped = (text) => text.replace(/[<>&"]/g, (character) => `&#${character.codePointAt(0)};`);
const xmlOf = (members) =>
  Object.entries(members)
    .flatMap(([name, value]) => (Array.isArray(value) ? value.map((each) => [name, each]) : [[name, value]]))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<${name}>${typeof value === 'object' ? xmlOf(value) : escaped(String(value))}</${name}>`)
    .join('');
const sendXml = (response, status, members) =>
  response.writeHead(status, { 'Content-Type': 'application/xml' }).end(`<?xml version="1.0"?>${xmlOf(members)}`);
let requests = 0;
const pathOf = (key) => join(objects, encodeURIComponent(key));

/** The body, which a client that waits sends now. A checksum in a header must be that of the bytes. */
async function bodyOf(request, response) {
  const { headers } = request;
  const hasChecksum = Object.keys(headers).some((name) => /^(content-md5|x-amz-checksum-)/.test(name));
  const isNewer = Object.keys(headers).some((name) => /^x-amz-(checksum-|sdk-checksum|trailer)/.test(name));
  if (old && (isNewer || /aws-chunked/.test(headers['content-encoding'] ?? ''))) throw refusal(501, 'NotImplemented');
  if (locked && !hasChecksum) throw refusal(400, 'InvalidRequest');
  if (headers.expect !== undefined) response.writeContinue();
  const body = await buffer(request);
  const expected = Buffer.from(headers['x-amz-checksum-crc32'] ?? '', 'base64').toString('hex');
  if (expected !== '' && Number.parseInt(expected, 16) !== crc32(body)) throw refusal(400, 'BadDigest');
  return body;
}

/** Nobody sees a part of a file. */
async function publish(path, source) {
  const draft = join(folder, randomUUID());
  await pipeline(source, createWriteStream(draft));
  await rename(draft, path);
  return `"${basename(draft)}"`;
}

/** Keeps the object of a key, or the marker of its deletion, as the newest version. Returns the headers of the response. */
async function keep(key, isMarker) {
  if (versions === undefined) return {};
  const id = randomUUID();
  if (!isMarker) await copyFile(pathOf(key), join(kept, id));
  history.set(key, [...(history.get(key) ?? []), { id, isMarker }]);
  return { 'x-amz-version-id': id, ...(isMarker ? { 'x-amz-delete-marker': 'true' } : {}) };
}

/** The newest version that is left is the object. */
async function removeVersion(key, id) {
  if (versions !== 'open') throw refusal(403, 'AccessDenied');
  const left = (history.get(key) ?? []).filter((version) => version.id !== id);
  history.set(key, left);
  await rm(join(kept, id), { force: true });
  const newest = left.at(-1);
  if (newest === undefined || newest.isMarker) await rm(pathOf(key), { force: true });
  else await copyFile(join(kept, newest.id), pathOf(key));
}

function listVersions(query) {
  if (versions !== 'open') throw refusal(403, 'AccessDenied');
  const all = [...history].flatMap(([Key, list]) => list.map(({ id, isMarker }) => ({ Key, VersionId: id, isMarker })));
  const [prefix, after] = [query.get('prefix') ?? '', query.get('version-id-marker')];
  const found = all.filter(({ Key }) => Key.startsWith(prefix));
  const rest = after === null ? found : found.slice(found.findIndex(({ VersionId }) => VersionId === after) + 1);
  const page = rest.slice(0, perPage);
  const IsTruncated = rest.length > perPage;
  const last = IsTruncated ? page.at(-1) : undefined;
  const of = (marker) =>
    page.filter(({ isMarker }) => isMarker === marker).map(({ Key, VersionId }) => ({ Key, VersionId }));
  const next = { NextKeyMarker: last?.Key, NextVersionIdMarker: last?.VersionId };
  return { ListVersionsResult: { IsTruncated, ...next, Version: of(false), DeleteMarker: of(true) } };
}

async function listObjects(query) {
  const [prefix, token] = [query.get('prefix') ?? '', decodeURIComponent(query.get('continuation-token') ?? '')];
  const keys = (await readdir(objects)).map(decodeURIComponent).filter((key) => key.startsWith(prefix) && key > token);
  const [page, IsTruncated] = [keys.sort().slice(0, perPage), keys.length > perPage];
  const contents = page.map(async (Key) => {
    const { size: Size, mtime } = await stat(pathOf(Key));
    return { Key, Size, LastModified: mtime.toISOString() };
  });
  const NextContinuationToken = IsTruncated ? encodeURIComponent(page.at(-1)) : undefined;
  return { ListBucketResult: { IsTruncated, NextContinuationToken, Contents: await Promise.all(contents) } };
}

async function send(request, response, key) {
  // Open before anything is sent: a file that is removed meanwhile is sent whole, as from Amazon.
  const file = await open(pathOf(key)).catch(() => {
    throw refusal(404, 'NoSuchKey');
  });
  try {
    await sendFile(request, response, file);
  } finally {
    await file.close();
  }
}

async function sendFile(request, response, file) {
  const facts = await file.stat();
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const [start, end] = [Number(from ?? 0), Math.min(Number(to || facts.size), facts.size - 1)];
  if (from !== undefined && start >= facts.size) throw refusal(416, 'InvalidRange');
  const range = from === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${facts.size}` };
  const head = { 'Content-Length': end - start + 1, 'Last-Modified': facts.mtime.toUTCString() };
  response.writeHead(from === undefined ? 200 : 206, { ...head, ...range, 'Accept-Ranges': 'bytes' });
  if (request.method === 'HEAD' || facts.size === 0) return response.end();
  await pipeline(file.createReadStream({ start, end, autoClose: false }), response);
}

async function complete(request, place, path) {
  const numbers = [...String(await buffer(request)).matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => number);
  const parts = numbers.map((number) => join(place, number));
  if (parts.length === 0 || !parts.every(existsSync)) throw refusal(400, 'InvalidPart');
  await publish(path, async function* () {
    for (const part of parts) yield* createReadStream(part);
  });
}

async function begin(key, UploadId = randomUUID()) {
  await mkdir(join(uploads, UploadId));
  await writeFile(join(uploads, UploadId, 'key'), key);
  return { InitiateMultipartUploadResult: { Key: key, UploadId } };
}

async function answer(request, response) {
  const { pathname, searchParams: query } = new URL(request.url, 'http://s3');
  const [, name, ...rest] = pathname.split('/').map(decodeURIComponent);
  const [key, id, { method }] = [rest.join('/'), query.get('uploadId'), request];
  if (!request.headers.authorization?.includes(`Credential=${accessKey}/`)) throw refusal(403, 'InvalidAccessKeyId');
  if (busy && (requests += 1) % 2 === 1) throw refusal(503, 'SlowDown');
  if (name !== bucket || !existsSync(objects)) throw refusal(404, 'NoSuchBucket');
  if (query.has('list-type')) return sendXml(response, 200, await listObjects(query));
  if (query.has('uploads')) return sendXml(response, 200, await begin(key));
  if (query.has('versions')) return sendXml(response, 200, listVersions(query));
  if (method === 'GET' || method === 'HEAD') return send(request, response, key);
  const place = id === null ? pathOf(key) : join(uploads, id);
  if (id !== null && !existsSync(place)) throw refusal(404, 'NoSuchUpload');
  if (method === 'PUT') {
    const body = await bodyOf(request, response);
    if (existsSync(join(folder, 'full'))) throw refusal(507, 'XMinioStorageFull');
    const ETag = await publish(id === null ? place : join(place, query.get('partNumber')), Readable.from([body]));
    return response.writeHead(200, { ETag, ...(id === null ? await keep(key, false) : {}) }).end();
  }
  if (method === 'POST') {
    await complete(request, place, pathOf(key));
    for (const [name, value] of Object.entries(await keep(key, false))) response.setHeader(name, value);
  }
  if (method === 'DELETE') await delay(deleteMs ?? 0);
  if (method === 'DELETE' && query.has('versionId')) {
    await removeVersion(key, query.get('versionId'));
    return response.writeHead(204).end();
  }
  // A part may be on its way into an upload.
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
  if (method === 'DELETE') return response.writeHead(204, id === null ? await keep(key, true) : {}).end();
  sendXml(response, 200, { CompleteMultipartUploadResult: { Key: key } });
}

const serve = (request, response) =>
  answer(request, response).catch(({ status = 500, code }) => {
    request.resume();
    if (response.headersSent) return response.destroy();
    sendXml(response, status, { Error: { Code: status === 500 ? 'InternalError' : code } });
  });
const server = createServer(serve).on('checkContinue', serve);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
