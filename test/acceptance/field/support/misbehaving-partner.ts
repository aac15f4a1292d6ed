import { beforeAll, expect, test } from '@jest/globals';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { serveFile } from '../../../support/file-host.js';
import { sampleVideo } from '../../../support/sample-video.js';
import {
  CONTINUOUS,
  type Element,
  element,
  inHours,
  lists,
  sha256,
  type VisionPartner,
} from '../../../support/scripted-vision.js';
import { type ShownRecording, VisionScene } from '../../support/vision.js';

/** One report from the field: what the partner or its host does with one recording, and what becomes of it. */
export interface Footage {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  /** By default a file of random bytes. */
  readonly file?: Buffer;
  /** The answers of the host to the first tries. Every later one is the file. */
  readonly answers: (file: Buffer, partner: VisionPartner) => readonly RequestListener[];
  /** Changes to the listed element, by the number of tries so far. */
  readonly listed?: (tries: number, partner: VisionPartner, file: Buffer) => Element;
  /** How often the host is asked, where that matters. */
  readonly tries?: number;
  /** The last answer is that to all later tries as well: it is the file, in a form of its own. */
  readonly isRepeated?: true;
}

const LIMIT_MS = 45_000;

/** A file of its own for each case, of its own camera. */
interface Entry {
  readonly footage: Footage;
  readonly file: Buffer;
  readonly cameraId: string;
  answers: readonly RequestListener[];
  tries: number;
}

/**
 * Runs a table of cases: each recording is stored in the end, byte for byte. One partner lists all of them at once, so that the
 * table takes as long as its slowest row. The delays between tries are skipped.
 */
export function footageCases(title: string, table: readonly Footage[]): void {
  const entries = table.map((footage, n): Entry => {
    return { footage, file: footage.file ?? sampleVideo(20_000), cameraId: `camera-${n}`, answers: [], tries: 0 };
  });
  let ended: Promise<ShownRecording[]>;
  beforeAll(() => {
    ended = allStored(entries);
    ended.catch(() => undefined);
  });

  test.each(entries.map((entry) => ({ ...entry.footage, entry })))(`${title}: $name ($source)`, async ({ entry }) => {
    const { cameraId, footage, file } = entry;
    const shown = (await ended).filter((recording) => recording.cameraId === cameraId);
    expect(shown).toMatchObject([{ status: 'stored', sha256: sha256(file) }]);
    expect(entry.tries).toBeGreaterThanOrEqual(footage.tries ?? entry.answers.length);
    expect(entry.tries).toBeLessThanOrEqual(footage.tries ?? Infinity);
  });
}

/** The recordings of a partner that lists all entries, once all are stored, or after a while. */
async function allStored(entries: readonly Entry[]): Promise<ShownRecording[]> {
  const vision = await VisionScene.create();
  for (const entry of entries) entry.answers = entry.footage.answers(entry.file, vision.partner);
  const range = { startTime: inHours(-3), endTime: inHours(-2.9) };
  const listed = entries.map((entry) =>
    element({ ...range, cameraId: entry.cameraId, downloadUrl: vision.partner.link(entry.file, hostOf(entry)) }),
  );
  const listing = () =>
    entries.map(({ footage, tries, file }, n) => ({ ...listed[n], ...footage.listed?.(tries, vision.partner, file) }));
  vision.partner.on(CONTINUOUS, lists('recordings', listing));
  await vision.follow({ startTime: inHours(-4) });
  for (const end = Date.now() + LIMIT_MS; ; await delay(100)) {
    const shown = await vision.recordings();
    const stored = shown.filter(({ status }) => status === 'stored');
    if (stored.length >= entries.length || Date.now() > end) return shown;
    await vision.nudge();
  }
}

/** The answers of the case, one a try; then the file. */
function hostOf(entry: Entry): RequestListener {
  const honest = serveFile(entry.file, { etag: `"${sha256(entry.file)}"` });
  return (request, response) => {
    const last = entry.footage.isRepeated === true ? entry.answers.at(-1) : honest;
    (entry.answers[entry.tries++] ?? last ?? honest)(request, response);
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
