import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { uuidv7 } from '../../src/core/database/uuid.js';

type Plain = Record<string, unknown>;
type Cell = string | null;

interface Answer {
  readonly data: { readonly sites: Plain[]; readonly kiosks: Plain[]; readonly materials: Plain[] };
}

/** The least that a synchronisation can be: parse the body, and COPY its rows into the catalog in one transaction. */
export async function copyAnswer(client: pg.Client, body: Buffer): Promise<void> {
  const { data } = JSON.parse(body.toString('utf8')) as Answer;
  const { rows } = await client.query<{ id: string }>(
    "INSERT INTO haulers (id, name) VALUES ($1, 'Floor') RETURNING id",
    [uuidv7()],
  );
  const haulerId = rows[0]?.id ?? '';
  const copy = async (table: string, columns: string, records: Plain[], content: (record: Plain) => Cell[]) => {
    const common = 'id, hauler_id, connection_id, external_id, partner_updated_at';
    const texts = copyText(records.map((record) => [...commonCells(haulerId, record), ...content(record)]));
    await pipeline(Readable.from(texts), client.query(copyFrom(`COPY ${table} (${common}, ${columns}) FROM STDIN`)));
  };
  await client.query('BEGIN');
  await copy('sites', 'name, line1, city, state, country, zip_code', data.sites, ({ name, address }) => {
    const { line1, city, state, country, zipCode } = address as Record<string, string>;
    return [name as string, line1 ?? null, city ?? null, state ?? null, country ?? null, zipCode ?? null];
  });
  await copy('kiosks', 'site_external_id, name', data.kiosks, ({ siteId, name }) => [siteId as string, name as string]);
  await copy('materials', 'kiosk_ids, material_type, measure_unit', data.materials, (record) => [
    `{${record['kioskId'] as string}}`,
    record['materialType'] as string,
    record['measureUnit'] as string,
  ]);
  await client.query('COMMIT');
}

function commonCells(haulerId: string, record: Plain): Cell[] {
  return [uuidv7(), haulerId, haulerId, record['id'] as string, record['updatedAt'] as string];
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Rows in the text format of COPY. */
function copyText(rows: Iterable<readonly (string | null)[]>): Buffer[] {
  const pieces: Buffer[] = [];
  let text = '';
  for (const row of rows) {
    const cells = row.map((cell) => cell?.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '') ?? '\\N');
    text += `${cells.join('\t')}\n`;
    if (text.length < 65_536) continue;
    pieces.push(Buffer.from(text));
    text = '';
  }
  return [...pieces, Buffer.from(text)];
}
