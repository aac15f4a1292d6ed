import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { startTestApp, type TestApp } from './app.js';
import { eventually } from './eventually.js';
import {
  CONTINUOUS,
  element,
  type Element,
  inHours,
  lists,
  startVisionPartner,
  type VisionPartner,
} from './scripted-vision.js';
import { endDownloadDeadline, hurryVideo } from './time.js';
import { connectVision } from './vision-partner.js';

/** A recording as the admin API shows it. */
export interface Shown {
  readonly id: string;
  readonly partnerRecordingId: string;
  readonly status: string;
  readonly reason?: string;
  readonly endTime: string;
  readonly durationSeconds: number;
  readonly sizeBytes?: number;
  readonly sha256?: string;
}

const FIRST = Date.parse(inHours(-3));

/** The `n`-th minute of what a truck recorded three hours ago. */
export const chunk = (n: number, downloadUrl: string, fields: Element = {}): Element =>
  element({
    id: `chunk-${n}`,
    startTime: new Date(FIRST + n * 60_000).toISOString(),
    endTime: new Date(FIRST + (n + 1) * 60_000).toISOString(),
    downloadUrl,
    ...fields,
  });

/** One chunk; each listing takes the next link, or the next fields, the last one again and again. */
export function listed(...links: (string | Element)[]): () => Element[] {
  let listing = 0;
  return () => {
    const link = links[Math.min(listing++, links.length - 1)] ?? '';
    return [typeof link === 'string' ? chunk(1, link) : chunk(1, '', link)];
  };
}

/** A partner, and instances of the service that fetch its recordings. */
export class DownloadScene {
  private readonly apps: TestApp[] = [];

  private constructor(readonly partner: VisionPartner) {}

  static async start(): Promise<DownloadScene> {
    return new DownloadScene(await startVisionPartner());
  }

  async service(options: Parameters<typeof startTestApp>[0] = {}): Promise<TestApp> {
    const app = await startTestApp({ ...options, env: { OUTBOUND_ALLOW_PRIVATE: true, ...options.env } });
    this.apps.push(app);
    return app;
  }

  async stop(): Promise<void> {
    for (const app of this.apps.reverse()) await app.close();
    await this.partner.stop();
  }

  /** Follows a truck of the partner, whose list is `items`. The connection's id. */
  async follow(app: TestApp, items: () => readonly Element[]): Promise<string> {
    this.partner.on(CONTINUOUS, lists('recordings', items));
    const { id: connectionId } = await connectVision(app, this.partner.url);
    await app.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4) });
    return connectionId;
  }
}

export const recordings = async (app: TestApp, connectionId: string): Promise<Shown[]> =>
  (await app.admin<{ data: Shown[] }>('GET', `/recordings?connectionId=${connectionId}&pageSize=100`)).body.data;

/** Waits until the connection's only recording is as expected. */
export async function becomes(app: TestApp, connectionId: string, expected: object): Promise<Shown> {
  await eventually(async () => {
    await hurryVideo(app);
    expect(await recordings(app, connectionId)).toMatchObject([expected]);
  });
  const [shown] = await recordings(app, connectionId);
  if (shown === undefined) throw new Error('there is no recording');
  return shown;
}

/**
 * Waits for a failed try of the connection's only recording, ends its subscription, which would revive it, lets its deadline
 * pass, and waits for its end.
 */
export async function becomesAtDeadline(app: TestApp, connectionId: string, expected: object): Promise<Shown> {
  await becomes(app, connectionId, { reason: expect.any(String) });
  const list = `/video-subscriptions?connectionId=${connectionId}`;
  const { body } = await app.admin<{ data: { id: string }[] }>('GET', list);
  for (const { id } of body.data) await app.admin('DELETE', `/video-subscriptions/${id}`);
  return eventually(async () => {
    // A reading that was under way may have revived it once more.
    await endDownloadDeadline(app, connectionId);
    await hurryVideo(app);
    const [shown] = await recordings(app, connectionId);
    expect(shown).toMatchObject(expected);
    return shown as Shown;
  });
}

/** Paths of the files in a folder of the storage, from there. */
export async function filesOf(app: TestApp, folder: string): Promise<string[]> {
  const root = join(new URL(app.env.STORAGE_URL).pathname, folder);
  const all = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return all
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name).slice(root.length + 1));
}
