import { existsSync } from 'node:fs';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';

/** Where the S3 server of the tests keeps uploads that are not complete. */
export const uploadsFolder = (bucketFolder: string): string => join(bucketFolder, '._S3rver_uploads');

function answerXml(res: ServerResponse, status: number, xml: string): void {
  res.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${xml}`);
}

interface Upload {
  readonly key: string;
  readonly id: string;
  readonly initiated: string;
}

/** Those that begin or end while they are looked at do not count. */
export async function uploadsOf(bucketFolder: string): Promise<Upload[]> {
  const folder = uploadsFolder(bucketFolder);
  const ids = await readdir(folder).catch(() => []);
  const uploads = await Promise.all(
    ids.map(async (id) => {
      const path = join(folder, id, 'key');
      const both = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch(() => undefined);
      return both && { id, key: both[0], initiated: both[1].mtime.toISOString() };
    }),
  );
  return uploads.filter((upload) => upload !== undefined);
}

/** As Amazon lists them: by key, of one key by id, and of a page's last key only the ids behind the marker. */
async function listUploads(bucketFolder: string, asked: URLSearchParams, perPage: number): Promise<string> {
  const [prefix, keyMarker, idMarker] = ['prefix', 'key-marker', 'upload-id-marker'].map((name) => asked.get(name));
  const rank = ({ key, id }: Upload): string => `${key}\0${id}`;
  const behind = `${keyMarker ?? ''}\0${idMarker ?? '\uffff'}`;
  const left = (await uploadsOf(bucketFolder))
    .filter((upload) => upload.key.startsWith(prefix ?? '') && (!keyMarker || rank(upload) > behind))
    .sort((one, other) => (rank(one) < rank(other) ? -1 : 1));
  const page = left.slice(0, perPage);
  const last = page.length < left.length ? page.at(-1) : undefined;
  const next = last && `<NextKeyMarker>${last.key}</NextKeyMarker><NextUploadIdMarker>${last.id}</NextUploadIdMarker>`;
  const listed = page.map(
    ({ key, id, initiated }) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`,
  );
  const all = [`<IsTruncated>${last !== undefined}</IsTruncated>`, next, ...listed].join('');
  return `<ListMultipartUploadsResult>${all}</ListMultipartUploadsResult>`;
}

/**
 * Stands before the S3 server and adds what that one lacks of Amazon's: uploads can be aborted and listed, one that is
 * gone is `NoSuchUpload`, and one whose first part is gone `InvalidPart`, of which that server would die; objects, too,
 * are listed so many at once. All else it answers as it is.
 */
export function completed(answer: RequestListener, bucketFolder: string, perPage: number): RequestListener {
  return (req, res) => {
    const { searchParams, pathname } = new URL(req.url ?? '', 'http://front');
    const uploadId = searchParams.get('uploadId');
    if (req.method === 'GET' && searchParams.has('uploads'))
      return void listUploads(bucketFolder, searchParams, perPage).then((xml) => answerXml(res, 200, xml));
    if (searchParams.has('list-type')) req.url += `&max-keys=${perPage}`;
    if (uploadId === null) return answer(req, res);
    const upload = join(uploadsFolder(bucketFolder), uploadId);
    const refuse = (status: number, code: string): void => {
      req.resume();
      answerXml(res, status, `<Error><Code>${code}</Code><Resource>${pathname}</Resource></Error>`);
    };
    if (!existsSync(upload)) return refuse(404, 'NoSuchUpload');
    if (req.method === 'POST' && !existsSync(join(upload, '1'))) return refuse(400, 'InvalidPart');
    if (req.method !== 'DELETE') return answer(req, res);
    // A part may be on its way into it.
    void rm(upload, { recursive: true, force: true, maxRetries: 5 }).then(
      () => res.writeHead(204).end(),
      () => refuse(500, 'InternalError'),
    );
  };
}
