import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';
import { Footage, minute } from '../../acceptance/support/footage.js';
import type { Plain } from '../../acceptance/support/hauler.js';
import { type OwnService, startOwnService } from '../../acceptance/support/service.js';
import { administer } from '../../acceptance/support/target.js';

interface Receipt {
  readonly status: string;
  readonly erased: Readonly<Record<string, number>>;
  readonly notReached: readonly string[];
}

/** A service starts. */
const HOOK_MS = 120_000;

describe.each(['open', 'closed'] as const)('in a bucket whose old versions are %s to the service', (versions) => {
  let s3: S3Server;
  let service: OwnService;
  beforeAll(async () => {
    s3 = await startS3Server({ versions });
    service = await startOwnService({ env: { ...s3.credentials, STORAGE_URL: s3.storageUrl('videos') } });
  }, HOOK_MS);

  const ask = <Body>(method: string, path: string, body?: Plain) => administer<Body>(method, path, body, service);

  test('an erasure deletes them, or names in its receipt that they remain and how to delete them (decision 68)', async () => {
    const footage = await Footage.create({ service });
    await footage.add({ from: 0, to: 10 }, { from: 20, to: 30 });
    const before = await s3.versions();
    expect(before).toBeGreaterThanOrEqual(2);
    const range = { ...footage.truck, from: minute(0), to: minute(40) };
    const { id } = await ask<{ id: string }>('POST', '/erasures', range);
    const { erased, notReached } = await eventually(async () => {
      const shown = await ask<Receipt>('GET', `/erasures/${id}`);
      expect(shown.status).toBe('done');
      return shown;
    });
    const isOpen = versions === 'open';
    expect(erased).toMatchObject({ recordings: 2, versionsLeft: isOpen ? 0 : 2 });
    expect(await s3.versions()).toBe(isOpen ? 0 : before);
    expect([/[Oo]ld versions.*remain.*version/.test(notReached.join()), notReached.length]).toEqual([
      !isOpen,
      isOpen ? 4 : 5,
    ]);
  });

  test('what needs attention has that they remain, and so has the check of the storage (decision 69)', async () => {
    const { data } = await ask<{ data: { kind: string; sentence: string }[] }>('GET', '/attention');
    const sentences = data.filter(({ kind }) => kind === 'kept-versions').map(({ sentence }) => sentence);
    const { advice = '' } = await ask<{ advice?: string }>('GET', '/doctor');
    const expected = /old versions.*lifecycle rule.*list-object-versions/;
    expect([sentences.length, advice !== '']).toEqual(versions === 'open' ? [0, false] : [1, true]);
    for (const text of versions === 'open' ? [] : [...sentences, advice]) expect(text).toMatch(expected);
  });
});
