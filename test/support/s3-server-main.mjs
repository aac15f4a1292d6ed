import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import S3rver from 's3rver';
import { registerTypeScript } from './typescript-hook.mjs';

// An S3 server on a free port, which is its only output: node s3-server-main.mjs DIRECTORY BUCKET [UPLOADS_PER_PAGE]
// Without a number it cannot list or abort uploads, as it is.
const [directory, bucket, uploadsPerPage] = process.argv.slice(2);
const s3 = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket, configs: [] }] });
await s3.configureBuckets();
// It hears of no failed write, such as one into the folder of an upload that has just been aborted: whoever asked tries again.
process.on('uncaughtException', () => undefined);
const server = createServer(uploadsPerPage === undefined ? s3.callback() : await completed(s3.callback()));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
console.log(server.address().port);

async function completed(pass) {
  registerTypeScript();
  const { s3Front } = await import('./s3-front.ts');
  return s3Front(pass, join(directory, bucket), Number(uploadsPerPage));
}
