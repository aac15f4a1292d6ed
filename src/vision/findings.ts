import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { storableText } from '../contracts/common/text.js';
import { redactUrls } from '../outbound/redaction.js';
import type { Finding } from './client/finding.js';
import type { VisionConnection } from './vision-connections.js';

/** What is kept of an element, in characters; its links lose their signatures. */
const LONGEST_RAW = 2_000;
/** Findings of one answer that are kept; a partner that breaks the contract everywhere need not be told a million times. */
const MOST_AT_ONCE = 100;

/** Keeps what partners' answers had wrong (decision 38): one row for each fault, however often it is seen. */
@Injectable()
export class VisionFindings {
  constructor(private readonly dataSource: DataSource) {}

  async record({ haulerId, id }: Pick<VisionConnection, 'haulerId' | 'id'>, found: readonly Finding[]): Promise<void> {
    if (found.length === 0) return;
    const rows = new Map(found.slice(0, MOST_AT_ONCE).map((finding) => [digestOf(finding), finding]));
    await this.dataSource.query(
      `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, raw, first_seen_at, last_seen_at)
       SELECT $1, $2, digest, path, reason, raw, now(), now()
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS found (digest, path, reason, raw) ORDER BY digest
       ON CONFLICT (hauler_id, connection_id, digest)
       DO UPDATE SET seen = vision_findings.seen + 1, last_seen_at = now()`,
      [
        haulerId,
        id,
        [...rows.keys()],
        [...rows.values()].map(({ path }) => storable(path)),
        [...rows.values()].map(({ reason }) => storable(reason)),
        [...rows.values()].map(({ raw }) => (raw === undefined ? null : rawText(raw))),
      ],
    );
  }
}

/** PostgreSQL text holds no U+0000. */
const storable = (text: string): string => storableText(text).slice(0, LONGEST_RAW);

const rawText = (raw: unknown, without?: ReadonlySet<string>): string =>
  storable(redactUrls(JSON.stringify(raw, (name, value: unknown) => (without?.has(name) ? undefined : value)) ?? ''));

/** What each listing makes anew of the same element. */
const OF_ONE_LISTING: ReadonlySet<string> = new Set(['downloadUrl', 'expiresAt']);

/** Without the place in the list and the link: the same fault is found again at every reading. */
function digestOf({ path, reason, raw }: Finding): string {
  const where = `${path} ${reason}`.replace(/\[\d+\]/g, '[]');
  return hash('sha256', `${where} ${raw === undefined ? '' : rawText(raw, OF_ONE_LISTING)}`);
}
