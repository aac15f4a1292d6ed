import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import type { BenchDatabase } from './database.js';
import { CatalogFixture } from '../support/catalog.js';
import type { Service } from './processes.js';

/** A hauler with a key and a catalog, and the tickets that its scale houses push. */
export interface ScaleHouse {
  readonly haulerId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One more new ticket with both weighings and two materials, about 700 bytes. */
  readonly next: () => { readonly name: string; readonly body: string };
}

const SITES = 50;
const MATERIALS_OF_SITE = 20;

export async function openScaleHouse(service: Service, { client }: Pick<BenchDatabase, 'client'>): Promise<ScaleHouse> {
  const catalog = new CatalogFixture({
    query: (async (sql: string, values: unknown[]) => client.query(sql, values)) as DataSource['query'],
  });
  const haulerId = await catalog.hauler();
  const sites: Site[] = [];
  for (let i = 0; i < SITES; i++) {
    const id = await catalog.site(haulerId);
    const materials: string[] = [];
    for (let j = 0; j < MATERIALS_OF_SITE; j++) materials.push(await catalog.material(haulerId, { siteId: id }));
    sites.push({ id, materials });
  }
  const { key } = await service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['scale'] });
  // As autovacuum would have done long ago on a running system.
  await client.query('ANALYZE');
  return { haulerId, headers: { 'platform-api-key': key }, next: tickets(sites) };
}

interface Site {
  readonly id: string;
  readonly materials: readonly string[];
}

function tickets(sites: readonly Site[]): ScaleHouse['next'] {
  const series = randomUUID().slice(0, 8);
  let count = 0;
  return () => {
    const name = `IN-${series}-${++count}`;
    const { id, materials } = sites[count % sites.length]!;
    const material = (i: number) =>
      `{"id":"${materials[(count + i) % materials.length]}","name":"Mixed construction debris","quantity":${(count % 2000) / 100},"unitPriceCents":6250.5,"unitOfMeasure":"Ton"}`;
    const body = `{"siteId":"${id}","materials":[${material(0)},${material(7)}],"inboundFlow":{"ticketNumber":"${name}","updatedAt":"2026-01-31T08:30:00Z"},"outboundFlow":{"ticketNumber":"OUT-${series}-${count}","updatedAt":"2026-01-31T08:52:11.25Z"},"customFields":{"truckNumber":"42","driver":"R. Miller","note":"second load of the day"}}`;
    return { name, body };
  };
}
