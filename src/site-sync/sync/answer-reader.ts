import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Breather } from '../../chunked-work/breather.js';
import { GetSitesResponse } from '../../contracts/site/site.dto.js';
import { instantSql } from '../../database/instant-sql.js';
import { ownField } from '../../partner-client/own-field.js';
import type { PartnerAnswer } from '../../partner-client/partner-answer.js';
import { Intake } from './intake.js';
import { type Kind, KINDS } from './kinds.js';
import { KnownParents, type StoredKiosk, type StoredParents } from './known-parents.js';

const LISTS: ReadonlyMap<string, Kind> = new Map(KINDS.map((kind) => [`data.${kind}`, kind]));
const DIGEST_STEP = 1024 * 1024;

/** Reads a partner's answer of any size in small steps, so that requests are answered meanwhile. */
@Injectable()
export class AnswerReader {
  constructor(private readonly dataSource: DataSource) {}

  /** SHA-256 of the body in hex. */
  async digest({ bytes }: PartnerAnswer): Promise<string> {
    const breather = new Breather();
    const hash = createHash('sha256');
    for (let at = 0; at < bytes.length; at += DIGEST_STEP) {
      if (breather.isDue) await breather.rest();
      hash.update(bytes.subarray(at, at + DIGEST_STEP));
    }
    return hash.digest('hex');
  }

  /** Every record, sorted; a body that is not the contract's envelope is the partner's breach (decision 33). */
  async read(answer: PartnerAnswer, haulerId: string, signal: AbortSignal): Promise<Intake> {
    const records = await answer.records([...LISTS.keys()], signal);
    const data = this.envelope(answer, records.envelope);
    const stated = KINDS.filter((kind) => data[kind] !== undefined);
    const intake = new Intake(stated, new KnownParents(await this.storedParents(haulerId)), new Date());
    const breather = new Breather();
    for await (const { list, first, records: batch, oversized } of records.batches()) {
      const kind = LISTS.get(list) as Kind;
      if (oversized) {
        intake.passOver(kind, first);
        continue;
      }
      for (const [i, record] of batch.entries()) {
        if (breather.isDue) await breather.rest();
        intake.take(kind, first + i, record);
      }
    }
    await intake.finish(breather);
    return intake;
  }

  private envelope(answer: PartnerAnswer, envelope: unknown): GetSitesResponse['data'] {
    if (ownField(envelope, 'success') === false) throw answer.refusal(envelope);
    return answer.read(GetSitesResponse, envelope).data;
  }

  private async storedParents(haulerId: string): Promise<StoredParents> {
    const sites = await this.dataSource.query<{ id: string }[]>(
      'SELECT external_id AS id FROM sites WHERE hauler_id = $1',
      [haulerId],
    );
    const kiosks = await this.dataSource.query<(StoredKiosk & { readonly id: string })[]>(
      `SELECT external_id AS id, site_external_id AS "siteId",
         ${instantSql('partner_updated_at')} AS "updatedAt"
       FROM kiosks WHERE hauler_id = $1`,
      [haulerId],
    );
    return {
      sites: new Set(sites.map(({ id }) => id)),
      kiosks: new Map(kiosks.map((kiosk) => [kiosk.id, kiosk])),
    };
  }
}
