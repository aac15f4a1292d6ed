import { setTimeout as delay } from 'node:timers/promises';
import { startS3Server } from '../support/s3-server.js';
import { atEnd } from './cleanup.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { VideoFetcher, type Measured } from './video-fetcher.js';
import { startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';

/** Issue 4: 200 files of 5 MB beside curl, and one of 2 GiB. */
const FILES = 200;
const FILE_BYTES = 5_000_000;
const LARGE_BYTES = 2 * 1024 ** 3;

type Runner = 'service' | 'curl --parallel' | 'curl, then sync and sha256sum';

/**
 * Downloads of the built service beside `curl --parallel` with as many at once, from a partner in a process of its own;
 * and the memory that one large video takes, in files and in S3. Arguments: rounds (5), `many` or `large` for one of both,
 * connections that share the files (1). The service has its defaults: 4 downloads at once for each connection, 16 in all.
 */
export async function run([rounds = '5', scope, connections = '1']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const { url } = await startPeer('videos.mjs', String(FILES), String(FILE_BYTES), String(LARGE_BYTES));
  if (scope !== 'large') report('downloads', await measureMany(database, url, Number(rounds), Number(connections)));
  if (scope !== 'many') report('downloads-large', await measureLarge(database, url));
}

const ENV = { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' };

async function measureMany(
  database: BenchDatabase,
  partnerUrl: string,
  rounds: number,
  connections: number,
): Promise<Row[]> {
  const service = await startService(database, ENV);
  const fetcher = new VideoFetcher(database, service, partnerUrl, connections);
  const measured: Record<Runner, Measured[]> = {
    service: [],
    'curl --parallel': [],
    'curl, then sync and sha256sum': [],
  };
  // The first round counts for nobody: its code is not compiled yet.
  for (let round = 0; round <= rounds; round++) {
    const fetched = await fetcher.follow('many', FILES, FILE_BYTES);
    const [plain, floor] = [await fetcher.curl(FILES, false), await fetcher.curl(FILES, true)];
    fetcher.expectSame(fetched.sums, plain.sums);
    if (round === 0) continue;
    measured.service.push(fetched);
    measured['curl --parallel'].push(plain);
    measured['curl, then sync and sha256sum'].push(floor);
  }
  await service.stop();
  const ms = (runner: Runner) => measured[runner].map((each) => each.ms);
  return [
    [`${FILES} files of ${FILE_BYTES / 1e6} MB, ${connections} × 4 at once`, 'MB/s', 'throughput ÷ curl', 'CPU ms'],
    ...(Object.keys(measured) as Runner[]).map((runner) => [
      runner,
      (FILES * FILE_BYTES) / 1_000 / median(ms(runner)),
      median(ms(runner).map((each, i) => (ms('curl --parallel')[i] ?? NaN) / each)),
      Math.round(median(measured[runner].map(({ processorMs }) => processorMs))),
    ]),
  ];
}

/** Each video has its own service, because the memory of an earlier video would hide the growth. */
async function measureLarge(database: BenchDatabase, partnerUrl: string): Promise<Row[]> {
  const s3 = await startS3Server();
  atEnd(() => s3.stop());
  const storages = { files: {}, S3: { STORAGE_URL: s3.storageUrl('bench'), ...s3.credentials } };
  const rows: Row[] = [['one video of 2 GiB', 's', 'MB/s', 'RSS before, MB', 'RSS +MB', 'target']];
  for (const [storage, env] of Object.entries(storages)) {
    const service = await startService(database, { ...ENV, ...env });
    const fetcher = new VideoFetcher(database, service, partnerUrl, 1);
    await fetcher.follow('many', FILES, FILE_BYTES);
    await delay(1_000);
    const { ms, rssBeforeMb, rssGrowthMb } = await fetcher.follow('large', 1, LARGE_BYTES);
    rows.push([storage, ms / 1_000, LARGE_BYTES / 1_000 / ms, Math.round(rssBeforeMb), Math.round(rssGrowthMb), 150]);
    await service.stop();
  }
  return rows;
}
