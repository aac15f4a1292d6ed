// The S3 server of the tests. Its argument, as JSON: where it keeps its objects, its one bucket, and what of `s3-front.ts`
// stands before it. It prints its port.
import './s3-writes.mjs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import S3rver from 's3rver';
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
const { completed } = await import('./s3-front.ts');

const { directory, bucket, plain, perPage } = JSON.parse(process.argv[2]);
const s3 = new S3rver({ directory, silent: true, configureBuckets: [{ name: bucket, configs: [] }] });
await s3.configureBuckets();
const serve = s3.callback();
// Amazon's asks for the body after it has found nothing to refuse.
const take = (req, res) => {
  if (req.headers.expect !== undefined) res.writeContinue();
  serve(req, res);
};
const answer = plain ? take : completed(take, join(directory, bucket), perPage);
const server = createServer(answer).on('checkContinue', answer);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
