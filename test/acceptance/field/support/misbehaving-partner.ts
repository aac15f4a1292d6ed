import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import type { TestApp } from '../../../support/app.js';
import { chunk, DownloadScene, recordings, type Shown } from '../../../support/download-scene.js';
import { eventually } from '../../../support/eventually.js';
import { serveFile } from '../../../support/file-host.js';
import { sampleVideo } from '../../../support/sample-video.js';
import { type Element, sha256, type VisionPartner } from '../../../support/scripted-vision.js';
import { hurryVideo } from '../../../support/time.js';

/** One report from the field: what the partner or its host does with one recording, and what becomes of it. */
export interface Footage {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  /** The answers of the host to the first tries. Every later one is the file. */
  readonly answers: (file: Buffer) => readonly RequestListener[];
  /** Changes to the listed element, by the number of tries so far. */
  readonly listed?: (tries: number, partner: VisionPartner, file: Buffer) => Element;
  /** By default it is stored as the host serves it in the end. */
  readonly becomes?: object;
  /** How often the host is asked, where that matters. */
  readonly tries?: number;
}

/** A file of its own for each case, of its own camera. */
interface Entry {
  readonly footage: Footage;
  readonly file: Buffer;
  tries: number;
}

/**
 * Runs a table of cases. One partner lists all recordings at once, so that the table takes as long as its slowest line. The
 * delays between tries are skipped.
 */
export function footageCases(
  title: string,
  table: readonly Footage[],
  { env = {}, connection }: { readonly env?: Partial<TestApp['env']>; readonly connection?: object } = {},
): void {
  let scene: DownloadScene;
  let app: TestApp;
  let connectionId: string;
  const entries = table.map((footage): Entry => ({ footage, file: sampleVideo(20_000), tries: 0 }));
  beforeAll(async () => {
    scene = await DownloadScene.start();
    app = await scene.service({ env: { DOWNLOAD_CONCURRENCY_PER_CONNECTION: 16, ...env } });
    const links = entries.map((entry) => scene.partner.link(entry.file, hostOf(entry)));
    connectionId = await scene.follow(app, () =>
      entries.map(({ footage, tries, file }, n) =>
        chunk(n, links[n] ?? '', {
          id: footage.name,
          cameraId: `camera-${n}`,
          ...footage.listed?.(tries, scene.partner, file),
        }),
      ),
    );
    if (connection === undefined) return;
    expect(await app.admin('PATCH', `/connections/${connectionId}`, connection)).toMatchObject({ status: 200 });
  });
  afterAll(() => scene.stop());

  test.each(entries.map((entry, n) => ({ ...entry.footage, n })))(
    `${title}: $name ($source)`,
    async ({ n }) => {
      const entry = entries[n] as Entry;
      const { becomes = { status: 'stored', sha256: sha256(entry.file) }, tries } = entry.footage;
      await eventually(async () => {
        await hurryVideo(app);
        const all = (await recordings(app, connectionId)) as (Shown & { cameraId: string })[];
        expect(all.filter(({ cameraId }) => cameraId === `camera-${n}`)).toMatchObject([becomes]);
      }, 40_000);
      if (tries !== undefined) expect(entry.tries).toBe(tries);
      else if (entry.footage.listed === undefined)
        expect(entry.tries).toBeGreaterThan(entry.footage.answers(entry.file).length);
    },
    60_000,
  );
}

/** The answers of the case, one a try; then the file. */
function hostOf(entry: Entry): RequestListener {
  const answers = entry.footage.answers(entry.file);
  const honest = serveFile(entry.file, { etag: `"${sha256(entry.file)}"` });
  return (request, response) => {
    if (request.url?.startsWith('/login') === true) return;
    (answers[entry.tries++] ?? honest)(request, response);
  };
}

type Headers = Readonly<Record<string, string | number>>;

export const status =
  (code: number, headers: Headers = {}, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(code, headers).end(body);

/** A body of 200 with its length. */
export const sends =
  (body: Buffer | string, headers: Headers = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);

/** The same answer to so many tries. */
export const times = (count: number, answer: RequestListener): RequestListener[] =>
  Array.from({ length: count }, () => answer);
