import { describe, expect, test } from '@jest/globals';
import { resolve } from 'node:path';
import { diskReserveBytes } from '../../../src/core/config/disk-reserve.js';
import { parseStorageUrl } from '../../../src/core/config/storage-url.js';
import { storageName } from '../../../src/core/storage/storage-names.js';

const MIB = 1024 * 1024;

test('names are spread by the end of an id, because its beginning is its time', () => {
  const id = '01990000-0000-7000-8000-0000000000AB';
  expect(storageName('recordings', id)).toBe('recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4');
  const other = '01990000-0000-4000-8000-0000000000ab';
  expect(storageName('recordings', other)).toBe(`recordings/ab/${other}.mp4`);
  expect(() => storageName('recordings', '../../x')).toThrow(TypeError);
  expect(() => storageName('../x', id)).toThrow(TypeError);
});

test.each([
  ['8 MiB', 8, 4],
  ['128 MiB', 128, 48],
  ['4,000 MiB', 4_000, 400],
  ['1 TiB', 1024 ** 2, 1024],
])('on a disk of %s videos leave enough for the database', (_, diskMib, keptMib) => {
  expect(diskReserveBytes(diskMib * MIB)).toBe(keptMib * MIB);
});

describe('STORAGE_URL', () => {
  test.each([
    ['file:/var/videos', '/var/videos'],
    ['file:///var/videos', '/var/videos'],
    ['file://localhost/var/videos', '/var/videos'],
    ['file:/var/my videos/100%?#', '/var/my videos/100%?#'],
    ['file:data/videos', resolve('data/videos')],
    ['file:/var//localhost/videos', '/var/localhost/videos'],
  ])('%s', (url, root) => expect(parseStorageUrl(url)).toEqual({ kind: 'files', root }));

  test.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '', region: 'us-east-1' }],
    ['s3://bucket?endpoint=&region=', { bucket: 'bucket', prefix: '', region: 'us-east-1' }],
    ['s3://bucket/50%25', { bucket: 'bucket', prefix: '50%/', region: 'us-east-1' }],
    ['S3://bucket?region=Local', { bucket: 'bucket', prefix: '', region: 'Local' }],
    ['s3://bucket/a/b/?region=eu-central-1', { bucket: 'bucket', prefix: 'a/b/', region: 'eu-central-1' }],
    [
      's3://my.bucket/a?endpoint=http://127.0.0.1:9000&region=x',
      { bucket: 'my.bucket', prefix: 'a/', endpoint: 'http://127.0.0.1:9000', region: 'x' },
    ],
    [
      's3://bucket?endpoint=HTTPS://example.com',
      { bucket: 'bucket', prefix: '', endpoint: 'HTTPS://example.com', region: 'us-east-1' },
    ],
  ])('%s', (url, config) => expect(parseStorageUrl(url)).toEqual({ kind: 's3', ...config }));

  test.each(['file:', 'file://elsewhere/share', 's3:///prefix', 'https://bucket'])('%s is refused', (url) =>
    expect(() => parseStorageUrl(url)).toThrow('STORAGE_URL'),
  );

  test.each([
    ['s3:', 'a bucket'],
    ['s3://', 'a bucket'],
    ['s3:bucket', 'a bucket'],
    ['s3://a b', 'a bucket'],
    ['s3://key:hidden@bucket', 'a user'],
    ['s3://hidden@bucket', 'a user'],
    ['s3://:hidden@bucket', 'a user'],
    ['s3://bucket:9000', 'a port'],
    ['s3://bucket/a#b', 'a fragment'],
    ['s3://bucket/50%', '%25'],
    ['s3://bucket?endpoint=hidden', 'an endpoint'],
    ['s3://bucket?endpoint=ftp://hidden', 'an endpoint'],
    ['s3://bucket?endpoint=http:hidden', 'an endpoint'],
    ['s3://bucket?endpoint=xhttp://hidden', 'an endpoint'],
    ['s3://bucket?endpoint=http://', 'an endpoint'],
    ['s3://bucket?region=hidden.example', 'a region'],
    ['s3://bucket?regoin=hidden', 'no parameters but endpoint and region'],
    ['s3://bucket?Region=hidden', 'no parameters but endpoint and region'],
    ['s3://bucket?region=a&region=hidden', 'each at most once'],
    ['file:', 'a path'],
    ['file://hidden/share', 'a path'],
    ['hidden', 'file: or s3:'],
    ['xs3://hidden', 'file: or s3:'],
  ])('%s is refused with a word for it', (url, word) => {
    expect(() => parseStorageUrl(url)).toThrow(word);
    expect(() => parseStorageUrl(url)).not.toThrow('hidden');
  });
});
