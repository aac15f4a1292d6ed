import { startDatabase } from './database.js';
import { push } from './load.js';
import { rssMb, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse } from './scale-house.js';

const CONNECTIONS = 64;
const BLOCK_SECONDS = 10;

/** How throughput and memory stand while tickets pile up. Argument: tickets to push (1,000,000, several minutes). */
export async function run([tickets = '1000000']: readonly string[]): Promise<void> {
  const database = await startDatabase();
  const service = await startService(database);
  const { headers, next } = await openScaleHouse(service, database);
  const rows: Row[] = [['tickets stored', 'tickets/s meanwhile', 'RSS MB']];
  let acknowledged = 0;
  while (acknowledged < Number(tickets)) {
    const outcome = await push({
      url: `${service.url}/platform-api/v1/tickets`,
      headers,
      connections: CONNECTIONS,
      seconds: BLOCK_SECONDS,
      next,
    });
    if (outcome.failures.length > 0) throw new Error(`${outcome.failures.length} failures: ${outcome.failures[0]}`);
    acknowledged += outcome.acknowledged.length;
    const perSecond = Math.round(outcome.acknowledged.length / outcome.seconds);
    rows.push([acknowledged, perSecond, Math.round(rssMb(service.pid))]);
    console.log(rows.at(-1)?.join('  '));
  }
  const { rows: counts } = await database.client.query<{ stored: string; kept: string }>(
    'SELECT (SELECT count(*) FROM tickets) AS stored, (SELECT count(*) FROM ticket_revisions) AS kept',
  );
  const { stored, kept } = counts[0] ?? { stored: '0', kept: '0' };
  // A request in progress at the end of a block is stored, but its response was not counted.
  const most = acknowledged + (rows.length - 1) * CONNECTIONS;
  if (stored !== kept || Number(stored) < acknowledged || Number(stored) > most) {
    throw new Error(`${acknowledged} tickets acknowledged, ${stored} stored, ${kept} in the history`);
  }
  report('growth', rows);
}
