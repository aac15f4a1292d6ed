import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { STORAGE, type Storage } from '../../../src/storage/storage.js';
import { videoFileName } from '../../../src/reference-partner/vision/stored-videos.repository.js';
import type { Reply } from '../../support/http.js';
import { DatabaseStage } from '../../support/database-stage.js';
import { eventually } from '../../support/eventually.js';
import { upload } from '../../support/reference-vision.js';

/** The SQL here is about a commit that PostgreSQL holds back. `acceptance/faults/database-away` has the connections that are cut. */
let stage: DatabaseStage;
/** Not through the proxy. */
let direct: DataSource;
beforeAll(async () => {
  stage = await DatabaseStage.open();
  direct = await stage.database.connect(3);
});
afterAll(() => stage.close());

/** The number of server processes that wait for a lock. While they wait, they do not notice that their client has gone. */
async function waiting(): Promise<number> {
  const [row] = await direct.query<[{ count: number }]>(
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row.count;
}

const untilOneWaits = () => eventually(async () => expect(await waiting()).not.toBe(0));

function expectUnavailable({ status, headers, body }: Reply<{ readonly error?: unknown }>): void {
  const message = expect.stringMatching(/^the service cannot reach its database; try again/);
  expect({ status, error: body.error }).toEqual({ status: 503, error: { code: 'INTERNAL_ERROR', message } });
  expect(headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
}

describe('a recording whose connection breaks during its commit keeps its file', () => {
  const COMMIT_LOCK = 4711;
  let minute = 0;

  beforeAll(() =>
    direct.query(`
      CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${COMMIT_LOCK}); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON reference_recordings DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slow_commit()`),
  );

  const uploaded = async (breakIt: () => void): Promise<Reply<{ readonly error?: unknown }>> => {
    const runner = direct.createQueryRunner();
    await runner.startTransaction();
    try {
      await runner.query('SELECT pg_advisory_xact_lock($1)', [COMMIT_LOCK]);
      const reply = upload<{ readonly error?: unknown }>(stage.service, minute++);
      await untilOneWaits();
      breakIt();
      return await reply;
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  };

  const expectKept = async () => {
    const { id } = await eventually(async () => {
      const ids = await direct.query<{ id: string }[]>('SELECT id FROM reference_recordings ORDER BY id DESC');
      expect(ids).toHaveLength(minute);
      return ids[0]!;
    });
    const storage = stage.service.app.get<Storage>(STORAGE, { strict: false });
    expect(await storage.stat(videoFileName('recordings', id))).toBeDefined();
  };

  test('from an upload of an admin', async () => {
    expectUnavailable(await uploaded(() => stage.proxy.reset()));
    await expectKept();
  });
});
