import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parseStorageUrl } from '../../src/config/storage-url.js';

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

test('file storage never loads the AWS SDK', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    import { registerTypeScript } from './test/support/typescript-hook.mjs';
    let loaded = 0;
    registerHooks({ load: (url, context, next) => (url.includes('@aws-sdk') && (loaded += 1), next(url, context)) });
    registerTypeScript();
    const { openStorage } = await import('./src/storage/open-storage.ts');
    const { Downloader } = await import('./src/vision/downloads/downloader.ts');
    new Downloader(await openStorage('file:/nowhere'), { allowPrivate: false });
    const withFiles = loaded;
    (await openStorage('s3://bucket')).close();
    console.log(JSON.stringify({ withFiles, withS3: loaded > 0 }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(JSON.parse(stdout)).toEqual({ withFiles: 0, withS3: true });
});
