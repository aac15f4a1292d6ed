import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BenchDatabase, startDatabase } from './database.js';
import { ROOT, type Service, startService } from './processes.js';
import { report, type Row } from './report.js';
import { openScaleHouse, type ScaleHouse } from './scale-house.js';

const CLIENTS = 4;
const FILE_BYTES = 10_240;
/** A partner that pushes all the time pauses between two tickets. */
const PAUSE_MS = 20;
const KEYS = ['0123456789abcdef'.repeat(4), 'fedcba9876543210'.repeat(4)] as const;

interface Cell {
  readonly service: Service;
  readonly database: BenchDatabase;
  readonly storage: string;
  readonly variables: Record<string, string>;
}

/** A hauler moved between two cells by the command line while its partner pushes. Arguments: tickets (100000), files (10000). */
export async function run([tickets = '100000', files = '10000']: readonly string[]): Promise<void> {
  const [source, target] = [await startCell('a', KEYS[0], KEYS[1]), await startCell('b', KEYS[1], KEYS[0])];
  const house = await openScaleHouse(source.service, source.database);
  await fill(source, house.haulerId, Number(tickets), Number(files));
  const partner = new Partner(house, source.service.url);
  await delay(2_000);
  const archive = join(source.database.folder, 'hauler.tar');
  const rows: Row[] = [['step', 'seconds', 'pushes stored', 'pushes refused']];
  const step = async (name: string, work: () => Promise<unknown>) => {
    const begun = performance.now();
    const [stored, refused] = [partner.stored.size, partner.refused];
    await work();
    const seconds = (performance.now() - begun) / 1_000;
    rows.push([name, seconds, partner.stored.size - stored, partner.refused - refused]);
    console.log(rows.at(-1)?.join('  '));
  };
  const id = house.haulerId;
  await step('export (locks the hauler)', () => command(source, 'export', id, '--to', archive));
  await step('import', () => command(target, 'import', '--from', archive));
  // As the proxy does with the printed line.
  partner.url = target.service.url;
  await step('pushes at the target', () => delay(5_000));
  await step('release', () => command(source, 'release', id, '--to', 'b'));
  await partner.stop();
  const { rows: found } = await target.database.client.query<{ id: string; name: string }>(
    `SELECT id, inbound_number AS name FROM tickets WHERE hauler_id = $1 AND inbound_number NOT LIKE 'OLD-%'`,
    [id],
  );
  const moved = new Map(found.map((row) => [row.name, row.id]));
  const lost = [...partner.stored].filter(([name, ticket]) => moved.get(name) !== ticket).length;
  const doubled = found.length - moved.size;
  console.log(
    `${partner.stored.size} pushes: ${lost} lost, ${doubled} doubled, the longest waited ${partner.longestMs} ms`,
  );
  report('move', rows, { lost, doubled, longestMs: partner.longestMs });
  if (lost + doubled > 0) throw new Error('tickets were lost or doubled');
}

async function startCell(name: string, secretsKey: string, otherKey: string): Promise<Cell> {
  const database = await startDatabase();
  const storage = join(database.folder, 'files');
  const variables = {
    CELL: name,
    SECRETS_KEY: secretsKey,
    STORAGE_URL: `file:${storage}`,
    DATABASE_URL: database.url,
    DATA_DIR: database.folder,
  };
  const service = await startService(database, variables);
  return { service, database, storage, variables: { ...variables, SOURCE_SECRETS_KEY: otherKey } };
}

/** Stored tickets and recordings; each file has some bytes of its own. */
async function fill({ database: { client }, storage }: Cell, haulerId: string, tickets: number, files: number) {
  await client.query(
    `INSERT INTO tickets (id, hauler_id, site_id, materials, custom_fields, inbound_number, inbound_updated_at, revision,
       contents_version, created_at, updated_at)
     SELECT uuidv7(interval '-1 hour' + n * interval '1 ms'), $1, gen_random_uuid(),
       '[{"id":"019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d","name":"Mixed debris","quantity":12.5,"unitOfMeasure":"Ton"}]',
       '{"truckNumber":"42","driver":"R. Miller"}', 'OLD-' || n, now(), 1, now(), now(), now()
     FROM generate_series(1, $2::int) AS n`,
    [haulerId, tickets],
  );
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, size_bytes, sha256, fetch_ms, stored_at, created_at, updated_at)
     SELECT $1, uuidv7(), $1, 'continuous', n::text, 'bench', 'truck', 'front', at, at + interval '1 minute', 60, 'stored', at,
       ${FILE_BYTES}, '', 5, at, at, at
     FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * interval '1 minute' AS at) AS times RETURNING id`,
    [haulerId, files],
  );
  const sums = rows.map(({ id }) => {
    const path = join(storage, recordingFile(id));
    const bytes = Buffer.alloc(FILE_BYTES, id);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
    return createHash('sha256').update(bytes).digest('hex');
  });
  await client.query(
    `UPDATE recordings r SET sha256 = s.sha256 FROM unnest($2::uuid[], $3::text[]) AS s (id, sha256)
      WHERE r.hauler_id = $1 AND r.id = s.id`,
    [haulerId, rows.map(({ id }) => id), sums],
  );
  await client.query('ANALYZE');
}

/** The built command line; throws what it prints if it fails. */
async function command({ variables }: Cell, ...words: string[]): Promise<void> {
  const child = spawn(process.execPath, ['dist/src/cli/main.js', 'hauler', ...words], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...variables },
  });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`hauler ${words[0]}: ${out}${errors}`);
}

/** Sends each ticket until it is stored, and waits as `Retry-After` says. */
class Partner {
  readonly stored = new Map<string, string>();
  refused = 0;
  longestMs = 0;
  private isStopped = false;
  private readonly running: Promise<void>[];

  constructor(
    private readonly house: ScaleHouse,
    public url: string,
  ) {
    this.running = Array.from({ length: CLIENTS }, async () => {
      while (!this.isStopped) await this.send();
    });
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running);
  }

  private async send(): Promise<void> {
    const { name, body } = this.house.next();
    const begun = performance.now();
    for (;;) {
      const response = await fetch(`${this.url}/platform-api/v1/tickets`, {
        method: 'POST',
        headers: { ...this.house.headers, 'content-type': 'application/json' },
        body,
      });
      const answer = await response.text();
      if (response.status === 200) {
        this.stored.set(name, (JSON.parse(answer) as { disposalTicketId: string }).disposalTicketId);
        break;
      }
      if (response.status !== 503) throw new Error(`${name}: ${response.status} ${answer}`);
      this.refused += 1;
      await delay(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    }
    this.longestMs = Math.max(this.longestMs, Math.round(performance.now() - begun));
    await delay(PAUSE_MS);
  }
}
