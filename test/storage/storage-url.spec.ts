import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { parseStorageUrl } from '../../src/storage/storage-url.js';

describe('STORAGE_URL', () => {
  test.each([
    ['file:/var/videos', '/var/videos'],
    ['file:///var/videos', '/var/videos'],
    ['file://localhost/var/videos', '/var/videos'],
    ['file:/var/my videos/100%?#', '/var/my videos/100%?#'],
    ['file:data/videos', resolve('data/videos')],
  ])('%s', (url, root) => expect(parseStorageUrl(url)).toEqual({ kind: 'files', root }));

  test.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '', region: 'us-east-1' }],
    ['s3://bucket/a/b/?region=eu-central-1', { bucket: 'bucket', prefix: 'a/b/', region: 'eu-central-1' }],
    [
      's3://my.bucket/a?endpoint=http://127.0.0.1:9000&region=x',
      { bucket: 'my.bucket', prefix: 'a/', endpoint: 'http://127.0.0.1:9000', region: 'x' },
    ],
  ])('%s', (url, config) => expect(parseStorageUrl(url)).toEqual({ kind: 's3', ...config }));

  test.each(['file:', 'file://elsewhere/share', 's3:///prefix', 'https://bucket'])('%s is refused', (url) =>
    expect(() => parseStorageUrl(url)).toThrow('STORAGE_URL'),
  );
});

test('file storage never loads the AWS SDK', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    import { registerTypeScript } from './test/support/typescript-hook.mjs';
    let loaded = 0;
    registerHooks({ load: (url, context, next) => (url.includes('@aws-sdk') && (loaded += 1), next(url, context)) });
    registerTypeScript();
    const { openStorage } = await import('./src/storage/open-storage.ts');
    const { createDownloader } = await import('./src/storage/download/downloader.ts');
    createDownloader(await openStorage('file:/nowhere'), { allowPrivate: false });
    const withFiles = loaded;
    (await openStorage('s3://bucket')).close();
    console.log(JSON.stringify({ withFiles, withS3: loaded > 0 }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(JSON.parse(stdout)).toEqual({ withFiles: 0, withS3: true });
});
