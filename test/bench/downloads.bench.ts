import { type BenchDatabase, startDatabase } from './database.js';
import { VideoFetcher, type Measured } from './video-fetcher.js';
import { startPeer, startService } from './processes.js';
import { report, type Row } from './report.js';
import { median } from './statistics.js';

/** Issue 4: 200 files of 5 MB beside curl. */
const FILES = 200;
const FILE_BYTES = 5_000_000;

type Runner = 'service' | 'curl --parallel' | 'curl, then sync and sha256sum';

/**
 * Downloads of the built service beside `curl --parallel` with as many at once, from a partner in a process of its own.
 * Arguments: rounds (5), connections that share the files (1). The service has its defaults: 4 downloads at once for each
 * connection, 16 in all.
 */
export async function run([rounds = '5', connections = '1']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const { url } = await startPeer('videos.mjs', String(FILES), String(FILE_BYTES));
  report('downloads', await measure(database, url, Number(rounds), Number(connections)));
}

const ENV = { SIDES: 'platform', OUTBOUND_ALLOW_PRIVATE: 'true' };

async function measure(
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
    const fetched = await fetcher.follow(FILES, FILE_BYTES);
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
