import { createRequire } from 'node:module';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

// Loaded before the S3 server of the tests, which answers as soon as it has read a body: its file may have less of it
// by then, and a next request on a busy machine would find that. Here the answer waits for the file.
const asTheServer = createRequire(createRequire(import.meta.url).resolve('s3rver'));
const fs = asTheServer('fs-extra');
const store = asTheServer('./stores/filesystem').prototype;

const writes = new Map();
const { createWriteStream } = fs;
fs.createWriteStream = (path, ...options) => {
  const stream = createWriteStream(path, ...options);
  const ended = finished(stream);
  // `written` reports a failure. Nothing waits for the file of an interrupted body.
  ended.catch(() => undefined);
  writes.set(path, ended);
  return stream;
};

async function written(path) {
  await writes.get(path);
  writes.delete(path);
}

const { putObject, putPart } = store;
store.putObject = async function (object) {
  const result = await putObject.call(this, object);
  await written(this.getResourcePath(object.bucket, object.key, 'object'));
  return result;
};
store.putPart = async function (bucket, uploadId, partNumber, content) {
  const result = await putPart.call(this, bucket, uploadId, partNumber, content);
  await written(join(this.getResourcePath(bucket, undefined, 'uploads'), uploadId, String(partNumber)));
  return result;
};
