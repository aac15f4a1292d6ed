import { randomUUID } from 'node:crypto';
import type { TicketFootage } from '../../src/contracts/admin/footage.dto.js';
import { expect } from '@jest/globals';
import type { TestApp } from './app.js';

export interface FootageTicket {
  readonly inbound?: string;
  readonly outbound?: string;
  readonly customFields?: Readonly<Record<string, string>>;
}

/** A stored ticket of a hauler. Times are ISO texts. */
export async function storeTicket(
  { dataSource }: TestApp,
  haulerId: string,
  { inbound, outbound, customFields = { truckNumber: 'TRUCK-7' } }: FootageTicket,
): Promise<string> {
  const id = randomUUID();
  await dataSource.query(
    `INSERT INTO tickets (hauler_id, id, site_id, revision, inbound_number, inbound_updated_at, outbound_number,
       outbound_updated_at, materials, custom_fields, created_at, updated_at)
     VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, now(), now())`,
    [
      ...[haulerId, id, randomUUID()],
      ...(inbound === undefined ? [null, null] : [`IN-${id}`, inbound]),
      ...(outbound === undefined ? [null, null] : [`OUT-${id}`, outbound]),
      JSON.stringify([{ id: randomUUID(), name: 'Clean <fill>', quantity: 12.48, unitOfMeasure: 'Ton' }]),
      JSON.stringify(customFields),
    ],
  );
  return id;
}

export interface StoredChunk {
  readonly truckId?: string;
  readonly cameraId?: string;
  readonly start: string;
  readonly end: string;
  readonly status?: 'stored' | 'available';
}

/** A continuous recording of a connection, without a file. */
export async function storeChunk(
  { dataSource }: TestApp,
  [haulerId, connectionId]: readonly [string, string],
  { truckId = 'TRUCK-7', cameraId = 'front', start, end, status = 'stored' }: StoredChunk,
): Promise<string> {
  const id = randomUUID();
  await dataSource.query(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
     VALUES ($1, $2::uuid, $3, 'continuous', $2::text, 'customer-1', $4, $5, $6, $7, 300, $8, now(), now(), now())`,
    [haulerId, id, connectionId, truckId, cameraId, start, end, status],
  );
  return id;
}

export async function readFootage(app: TestApp, ticketId: string): Promise<TicketFootage> {
  const { status, body } = await app.admin<TicketFootage>('GET', `/tickets/${ticketId}/footage`);
  expect(status).toBe(200);
  return body;
}
