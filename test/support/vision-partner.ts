import { randomUUID } from 'node:crypto';
import { sealKey } from '../../src/partner-client/connection-keys.service.js';
import { WorkService } from '../../src/core/work/work.service.js';
import { expect } from '@jest/globals';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
import { addVisionConnection, deleteVideoRows } from './rows.js';
import type { VisionPartner } from './scripted-vision.js';

/** A hauler with one vision connection, as the admin API would store it. */
export async function connectVision(app: TestApp, baseUrl: string): Promise<{ haulerId: string; id: string }> {
  const [haulerId, id] = [randomUUID(), randomUUID()];
  await addVisionConnection(app, {
    haulerId,
    id,
    baseUrl,
    sealedKey: sealKey(app.env.SECRETS_KEY, id, 'the-partners-key'),
  });
  return { haulerId, id };
}

/**
 * Between two tests: forgets all video, and what the partner was asked, also of work that was under way. That ends with
 * its row, and could till then still ask the partner, and write what it found.
 */
export async function resetVision(app: TestApp, partner: VisionPartner): Promise<void> {
  await deleteVideoRows(app);
  await eventually(() => expect(atWork(app)).toEqual([]));
  await deleteVideoRows(app);
  partner.reset();
}

/** Kinds of Vision work that this instance is running. */
function atWork(app: TestApp): string[] {
  const running = [...app.app.get(WorkService).running()].filter(([, rows]) => rows > 0);
  return running.map(([kind]) => kind).filter((kind) => kind.startsWith('vision '));
}
