import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { videoFileName } from '../../../src/reference-partner/vision/stored-videos.repository.js';
import { STORAGE, type Storage } from '../../../src/core/storage/storage.js';
import { DatabaseStage } from '../../support/database-stage.js';
import { eventually } from '../../support/eventually.js';
import { upload } from '../../support/reference-vision.js';
import { rowsOf, whileCommitsWait } from '../../support/rows.js';

/** `acceptance/faults/database-away.spec.ts` has the connections that are cut in the middle of calls. */
let stage: DatabaseStage;
/** Not through the proxy. */
let direct: DataSource;
beforeAll(async () => {
  stage = await DatabaseStage.open();
  direct = await stage.database.connect(3);
});
afterAll(() => stage.close());

test('an uploaded recording whose connection breaks during its commit is 503, and keeps its file', async () => {
  const reply = await whileCommitsWait(direct, 'reference_recordings', async (waiting) => {
    const uploaded = upload<{ readonly error?: unknown }>(stage.service, 0);
    // A process of the server that waits for a lock does not notice that its client has gone.
    await eventually(async () => expect(await waiting()).not.toBe(0));
    stage.proxy.reset();
    return uploaded;
  });
  const message = expect.stringMatching(/^the service cannot reach its database; try again/);
  expect([reply.status, reply.body]).toMatchObject([503, { error: { code: 'INTERNAL_ERROR', message } }]);
  expect(reply.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
  const [row] = await eventually(async () => {
    const rows = await rowsOf<{ id: string }>({ dataSource: direct }, 'reference_recordings', 'id');
    expect(rows).toHaveLength(1);
    return rows;
  });
  const storage = stage.service.app.get<Storage>(STORAGE, { strict: false });
  expect(await storage.stat(videoFileName('recordings', row?.id ?? ''))).toBeDefined();
});
