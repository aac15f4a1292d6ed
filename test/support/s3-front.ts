import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';

/** Where the S3 server of the tests keeps uploads that are not complete. */
export const uploadsFolder = (bucketFolder: string): string => join(bucketFolder, '._S3rver_uploads');

function answerXml(res: ServerResponse, status: number, xml: string): void {
  res.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`);
}

async function listUploads(bucketFolder: string, res: ServerResponse): Promise<void> {
  const folder = uploadsFolder(bucketFolder);
  const uploads = (await readdir(folder).catch(() => [])).map(async (id) => {
    const key = await readFile(join(folder, id, 'key'), 'utf8');
    const initiated = (await stat(join(folder, id, 'key'))).mtime.toISOString();
    return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`;
  });
  const xml = (await Promise.all(uploads)).join('');
  answerXml(res, 200, `<ListMultipartUploadsResult>${xml}</ListMultipartUploadsResult>`);
}

function pass(req: IncomingMessage, res: ServerResponse, port: number): void {
  const { method, url, headers } = req;
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    res.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(res);
  });
  onward.on('error', () => res.destroy());
  req.pipe(onward);
}

/**
 * Stands before the S3 server and adds what that one lacks of Amazon's: uploads can be aborted and listed, and one that
 * is gone is `NoSuchUpload`. All else goes through as it is.
 */
export async function startS3Front(serverPort: number, bucketFolder: string): Promise<Server> {
  const server = createServer((req, res) => {
    const { searchParams, pathname } = new URL(req.url ?? '', 'http://front');
    const uploadId = searchParams.get('uploadId');
    if (req.method === 'GET' && searchParams.has('uploads')) return void listUploads(bucketFolder, res);
    if (uploadId === null) return pass(req, res, serverPort);
    const upload = join(uploadsFolder(bucketFolder), uploadId);
    if (!existsSync(upload)) {
      req.resume();
      return answerXml(res, 404, `<Error><Code>NoSuchUpload</Code><Resource>${pathname}</Resource></Error>`);
    }
    if (req.method !== 'DELETE') return pass(req, res, serverPort);
    void rm(upload, { recursive: true }).then(() => res.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
